// Storage is fresh for each test file, so each brings the schema up before its first test.
import { applyD1Migrations } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { inject } from 'vitest';

await applyD1Migrations(env.DB, inject('migrations'));
await applyD1Migrations(env.AUDIT, inject('auditMigrations'));
