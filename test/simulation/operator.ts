/** The operator, and the shop that keeps the orders: changes callers, withdraws and resends, raises totals. */
import type { Model } from './model.ts';
import type { OperatorAct } from './scenario.ts';
import { VARIABLES } from './deployment.ts';
import type { Stage } from './stage.ts';

/** Always through the product's routes: there are few of these, and telling all sessions is theirs. */
export async function operate(
  act: OperatorAct,
  callers: string[],
  orders: string[],
  stage: Stage,
  model: Model,
): Promise<void> {
  await (act.atRead === null ? stage.time.sleep(act.atMs) : stage.looked(act.atRead));
  switch (act.act) {
    case 'raise': {
      stage.note(`the shop raises ${orders[act.order] ?? ''} by ${act.by_cents}`);
      await stage.ledgerRows(
        'UPDATE orders SET total_cents = total_cents + ? WHERE order_id = ?',
        act.by_cents,
        orders[act.order] ?? '',
      );
      return;
    }
    case 'patch':
    case 'revoke': {
      const id = callers[act.caller] ?? '';
      const before = model.versionOf(id);
      const method = act.act === 'patch' ? 'PATCH' : 'DELETE';
      const status = await ask(
        stage,
        model,
        method,
        `/admin/callers/${id}`,
        act.act === 'patch' ? act.patch : undefined,
      );
      if (status === 200) model.settled(id, before, act.act === 'revoke');
      return;
    }
    case 'withdraw':
    case 'resend': {
      const [row] = await stage.ledgerRows(
        "SELECT approval_id FROM approvals WHERE status = 'pending' ORDER BY approval_id LIMIT 1",
      );
      if (row !== undefined)
        await ask(stage, model, 'POST', `/admin/approvals/${String(row['approval_id'])}/${act.act}`);
    }
  }
}

async function ask(stage: Stage, model: Model, method: string, path: string, body?: object): Promise<number> {
  const done = model.asks(`the operator: ${method} ${path}`);
  stage.note(`operator: ${method} ${path} ${JSON.stringify(body ?? {})}`);
  const response = await stage.fetch(path, {
    method,
    headers: {
      authorization: `Bearer ${VARIABLES.ADMIN_TOKEN}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  await response.text();
  stage.note(`operator: told ${response.status}`);
  done();
  return response.status;
}
