import { describe, expect, it } from 'vitest';
import { NEWEST_TABLES } from '../../../src/gate/ledger/readiness.ts';
import { auditMigrations, gateMigrations } from '../../support/migrations.ts';

const newestIn = (migrations: string[]): string | undefined =>
  [...migrations.join('').matchAll(/^CREATE TABLE (\w+)/gm)].at(-1)?.[1];

describe('NEWEST_TABLES', () => {
  it('are the tables that come last in the migrations of the gate and of the audit', () => {
    expect(NEWEST_TABLES).toEqual({ ledger: newestIn(gateMigrations()), audit: newestIn(auditMigrations()) });
  });
});
