/** Codes, tools and providers on `/docs`: each from the table or the code that the gate itself goes by. */
import type { JsonObject } from '../../json.ts';
import { observationText } from '../../observation/text.ts';
import { nextOf, toOutcome, type Next, type Outcome } from '../../outcome.ts';
import { providers } from '../../providers/index.ts';
import type { Tool } from '../../tool/define-tool.ts';
import type { Registry } from '../../tool/registry.ts';
import { GATE_CODES, gateCodes, NEXT_STEPS, STAGES } from '../shared/codes.ts';
import { Members } from './docs-schema.tsx';

export const Codes = () => (
  <>
    <table>
      <thead>
        <tr>
          <th scope="col">next</th>
          <th scope="col">The model should</th>
          <th scope="col">The host should</th>
        </tr>
      </thead>
      <tbody>
        {(Object.entries(NEXT_STEPS) as [Next, (typeof NEXT_STEPS)[Next]][]).map(([next, { model, host }]) => (
          <tr>
            <th scope="row">
              <code>{next}</code>
            </th>
            <td>{model}</td>
            <td>{host}</td>
          </tr>
        ))}
      </tbody>
    </table>
    <h3>The gate's codes</h3>
    <p>
      In the order of the stages: a call that fails two gets the earlier code, and nothing behind a failed stage runs.
    </p>
    <table>
      <thead>
        <tr>
          <th scope="col">Code</th>
          <th scope="col">Stage</th>
          <th scope="col">next</th>
          <th scope="col">Meaning</th>
        </tr>
      </thead>
      <tbody>
        {gateCodes.map((code) => {
          const { stages, meaning } = GATE_CODES[code];
          return (
            <tr>
              <th scope="row">
                <code>{code}</code>
              </th>
              <td>{stages.map((stage) => `${stage} ${STAGES[stage] ?? ''}`).join(', ') || 'an approval, later'}</td>
              <td>
                <code>{nextOf(code)}</code>
              </td>
              <td>{meaning}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
    <p>
      A tool's own codes stand with the tool; their <code>next</code> is <code>{nextOf('TOOL_CODE')}</code>, or{' '}
      <code>stop_and_tell_user</code> where no other call can help.
    </p>
  </>
);

export const Tools = ({ registry, schemas }: { registry: Registry; schemas: JsonObject }) => (
  <>
    {registry.tools.map((tool) => (
      <ToolEntry tool={tool} schemas={schemas} />
    ))}
  </>
);

const ToolEntry = ({ tool, schemas }: { tool: Tool; schemas: JsonObject }) => (
  <article class="card entry" id={`tool-${tool.name}`}>
    <h3>
      <code>{tool.name}</code>
    </h3>
    <p>
      <span class={tool.effect === 'none' ? 'pill good' : 'pill warn'}>
        {tool.effect === 'none' ? 'only reads' : 'has an effect, once per intent'}
      </span>{' '}
      {tool.risky ? <span class="pill warn">a person may have to approve it</span> : null}
    </p>
    <p>{tool.description}</p>
    <details>
      <summary>Arguments, answer and codes</summary>
      <h4>Arguments</h4>
      <Members schema={tool.inputSchema} schemas={schemas} />
      <h4>Answer</h4>
      <Members schema={tool.outputSchema} schemas={schemas} />
      {tool.codes.length === 0 ? null : (
        <>
          <h4>Codes</h4>
          <table>
            <tbody>
              {tool.codes.map((code) => (
                <tr>
                  <th scope="row">
                    <code>{code}</code>
                  </th>
                  <td>{tool.refusal(code, {}).message}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
    </details>
  </article>
);

const head = { call_id: 'call_1', tool: 'get_order', step: 1 };

/** One good and one refused answer, written by what writes all of them. */
export const EXAMPLES: readonly Outcome[] = [
  toOutcome(head, {
    ok: true,
    replayed: false,
    data: { order_id: 'ORD-1001', total_cents: 12_000, refunded_cents: 0, currency: 'BRL' },
  }),
  toOutcome({ ...head, call_id: 'call_2', step: 2 }, { ok: false, refusal: { code: 'TOOL_NOT_ALLOWED' } }),
];

export const Providers = () => (
  <>
    {providers.map((provider) => {
      const call = { id: 'call_1', name: 'get_order', arguments: {}, echo: {} };
      const results = EXAMPLES.map(({ ok }) => provider.result(call, { ok, text: ok ? '…' : '(refused) …' }));
      return (
        <article class="card entry">
          <h3>
            <code>{provider.name}</code>
          </h3>
          <p>
            Takes <code>{provider.takes}</code>; a good and a refused result:
          </p>
          <pre>
            <code>{results.map((result) => JSON.stringify(result)).join('\n')}</code>
          </pre>
        </article>
      );
    })}
  </>
);

export const Observations = () => (
  <pre>
    <code>{EXAMPLES.map(observationText).join('\n')}</code>
  </pre>
);
