/** Mistakes in how effects in other systems are sent and settled: those of the explicit-state model, and their neighbours. */
import { one, type PlantedBug } from './bug.ts';

const EXTERNAL = 'src/gate/pipeline/external.ts';
const PIPELINE = 'src/gate/pipeline/pipeline.ts';
const STORED = 'src/gate/pipeline/stored-actions.ts';
const JOURNAL = 'src/gate/ledger/journal.ts';
const RECORDS = 'src/gate/session/records.ts';
const RECIPE = 'src/gate/tool/external.ts';

const OPEN = 'const opened = await onD1(run, () => gate.journal.open(attemptToOpen(record, run)));';
const LEFT = 'external !== null && (external.sends > 0 || external.final !== null);';
const ENDED = 'if (final !== null) return final;';
const NOTED = 'return close(externalOf(now).final === null ? run.gate.noteFinal(now, final) : now, run);';

export const EXTERNAL_BUGS: PlantedBug[] = [
  one('no journal before the send', EXTERNAL, OPEN, "const opened = 'open' as 'open' | 'waits' | null;"),
  one('no durable mark before the send', RECORDS, 'SET sends = sends + 1,', 'SET sends = sends,'),
  one(
    'mark after the send',
    EXTERNAL,
    `const marked = gate.markSent(now);
  const answer = await transmit(marked, run);`,
    'const answer = await transmit(now, run);\n  const marked = gate.markSent(now);',
  ),
  one(
    'void leaves for D1 before sends are forbidden',
    EXTERNAL,
    NOTED,
    'return close({ ...now, external: { ...externalOf(now), final: externalOf(now).final ?? final } }, run);',
  ),
  {
    name: 'closed attempt is judged again',
    replacements: [
      { file: EXTERNAL, find: LEFT, replace: 'external !== null && external.sends > 0 && external.final === null;' },
      { file: EXTERNAL, find: ENDED, replace: '' },
    ],
  },
  {
    name: 'resends beyond the window',
    replacements: [
      {
        file: EXTERNAL,
        find: `if (sends > 0) return isInWindow(record, recipe, gate.now(), ordered) ? null : 'stay';`,
        replace: 'if (sends > 0) return null;',
      },
      { file: EXTERNAL, find: '&& isInWindow(record, recipe, gate.now(), false);', replace: ';' },
      { file: EXTERNAL, find: 'sends >= MAX_SENDS', replace: 'sends >= 1_000' },
    ],
  },
  one('absent means not applied, at once', EXTERNAL, 'return isProven ? settleAs(', 'return true ? settleAs('),
  one(
    'quiet counted from the claim',
    EXTERNAL,
    'issued >= (last_send_at ?? 0) + recipe.backend.quietMs + recipe.lagMs;',
    'issued >= (last_send_at ?? 0) - recipe.backend.quietMs + recipe.lagMs + recipe.backend.quietMs - 60_000;',
  ),
  one(
    '401 taken for a refusal',
    RECIPE,
    'return JUDGING.has(status) ? finalOf(declared.refusal(answer)) : null;',
    "if (status === 401) return { applied: false, code: 'AMOUNT_EXCEEDS_REFUNDABLE', facts: {} };\n      return JUDGING.has(status) ? finalOf(declared.refusal(answer)) : null;",
  ),
  one(
    'no answer taken for a refusal',
    EXTERNAL,
    'const read = answer && readSafely(',
    "const read = answer === null ? ({ applied: false, code: 'UPSTREAM_UNAVAILABLE', facts: {} } as const) : readSafely(",
  ),
  one(
    'refusal final although another send is on its way',
    EXTERNAL,
    "recipe.backend.refusals === 'kept' || isAlone);",
    "recipe.backend.refusals === 'kept' || isAlone || true);",
  ),
  one(
    'bytes made anew for a resend',
    EXTERNAL,
    'const { outgoing } = externalOf(record);\n  const { backend } = recipe;',
    'const { outgoing: stored, sends } = externalOf(record);\n  const outgoing = { ...stored, body: `${stored.body}${" ".repeat(sends - 1)}` };\n  const { backend } = recipe;',
  ),
  one(
    'unknown judged afresh by stage 5',
    PIPELINE,
    'if (open !== null && mayHaveLeft(open)) {',
    'if (open === undefined) {',
  ),
  one(
    'alarm voids what was sent',
    STORED,
    `const ending = mayHaveLeft(record)
      ? endingOf(`,
    `const ending = record.key === ''
      ? endingOf(`,
  ),
  one(
    'late journal reopens a settled attempt',
    JOURNAL,
    'WHERE NOT EXISTS (SELECT 1 ${SETTLED}) AND (code IS NULL',
    'WHERE (code IS NULL',
  ),
  {
    name: 'sent after the revocation was told',
    replacements: [
      {
        file: EXTERNAL,
        find: `if (live === 'revoked' && !ordered) return unsent({ code: 'CALLER_REVOKED' });`,
        replace: '',
      },
      { file: EXTERNAL, find: `return scope.live !== 'revoked' && !isPaused(`, replace: 'return !isPaused(' },
      { file: JOURNAL, find: "coalesce(${barredBy('?7', '?9')}, CASE", replace: 'coalesce(NULL, CASE' },
    ],
  },
  one('revoked while unknown means void', EXTERNAL, 'return notSent(isFirst && !waits ?', 'return notSent(!waits ?'),
  one(
    'resend to a backend without keys',
    EXTERNAL,
    'if (recipe.backend.key === null || final !== null',
    'if (final !== null',
  ),
  one(
    'another key for each send',
    'src/gate/backends/http.ts',
    '[key.header]: wireKey(effectKey, key)',
    '[key.header]: `${wireKey(effectKey, key).slice(0, 30)}${Math.floor(Date.now() / 1000)}`',
  ),
  one(
    'approved action is voided where its subject is busy',
    JOURNAL,
    "AND NOT (?16 AND code IN ('SUBJECT_BUSY', 'PAUSED'))",
    "AND NOT (?16 AND code IN ('PAUSED'))",
  ),
  one(
    'no lock of the subject',
    JOURNAL,
    "WHEN EXISTS (SELECT 1 FROM open_sends WHERE backend = ?1 AND subject = ?2 AND effect_key <> ?3) THEN 'SUBJECT_BUSY'",
    '',
  ),
  one(
    'open row kept after the end',
    JOURNAL,
    'const DELETE = `DELETE ${OWN} AND EXISTS (SELECT 1 ${SETTLED})`;',
    'const DELETE = `DELETE ${OWN} AND NOT EXISTS (SELECT 1 ${SETTLED})`;',
  ),
  one(
    'waiting for an operator is called settled',
    EXTERNAL,
    'return recipe && settle(record, { ...run, recipe, resends: true });',
    'if (recipe?.lagMs === null && recipe.backend.key === null) return settleAs(record, voidBecause(UNREACHED), run);\n  return recipe && settle(record, { ...run, recipe, resends: true });',
  ),
];
