/** The operator, and the shop that keeps the orders: changes callers, withdraws and resends, raises totals. */
import type { Model } from './model.ts';
import type { OperatorAct } from './scenario.ts';
import { VARIABLES } from './deployment.ts';
import type { World } from './world.ts';

/** Always through the product's routes: there are few of these, and telling all sessions is theirs. */
export async function operate(
  act: OperatorAct,
  callers: string[],
  orders: string[],
  world: World,
  model: Model,
): Promise<void> {
  await (act.atRead === null ? world.time.sleep(act.atMs) : world.ledger.looked(act.atRead));
  switch (act.act) {
    case 'raise': {
      world.note(`the shop raises ${orders[act.order] ?? ''} by ${act.by_cents}`);
      world.ledger.database.all('UPDATE orders SET total_cents = total_cents + ? WHERE order_id = ?', [
        act.by_cents,
        orders[act.order] ?? '',
      ]);
      return;
    }
    case 'patch':
    case 'revoke': {
      const id = callers[act.caller] ?? '';
      const method = act.act === 'patch' ? 'PATCH' : 'DELETE';
      const status = await ask(
        world,
        model,
        method,
        `/admin/callers/${id}`,
        act.act === 'patch' ? act.patch : undefined,
      );
      if (status === 200) model.settled(id);
      return;
    }
    case 'withdraw':
    case 'resend': {
      const [row] = world.ledger.database.all(
        "SELECT approval_id FROM approvals WHERE status = 'pending' ORDER BY approval_id LIMIT 1",
      );
      if (row !== undefined)
        await ask(world, model, 'POST', `/admin/approvals/${String(row['approval_id'])}/${act.act}`);
    }
  }
}

async function ask(world: World, model: Model, method: string, path: string, body?: object): Promise<number> {
  const done = model.asks(`the operator: ${method} ${path}`);
  world.note(`operator: ${method} ${path} ${JSON.stringify(body ?? {})}`);
  const response = await world.fetch(path, {
    method,
    headers: {
      authorization: `Bearer ${VARIABLES.ADMIN_TOKEN}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  await response.text();
  world.note(`operator: told ${response.status}`);
  done();
  return response.status;
}
