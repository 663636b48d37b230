import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { NEWEST_TABLE } from '../../../src/gate/ledger/readiness.ts';

describe('readNewestTable', () => {
  it('reads the table that comes last in the migrations of the gate', () => {
    const migrations = readdirSync('migrations').toSorted();
    const text = migrations.map((file) => readFileSync(`migrations/${file}`, 'utf8')).join('');
    expect([...text.matchAll(/^CREATE TABLE (\w+)/gm)].at(-1)?.[1]).toBe(NEWEST_TABLE);
  });
});
