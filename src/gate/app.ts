/**
 * The Worker's HTTP surface: what holds for every request, and which room answers which path. Credentials and bodies are
 * the routes' own first acts. No route sends CORS headers: agents and hosts are no browser pages, and the approver's page
 * talks to its own origin.
 */
import { Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { methodNotAllowed } from 'hono/method-not-allowed';
import { matchedRoutes } from 'hono/route';
import { secureHeaders } from 'hono/secure-headers';
import { getPath } from 'hono/utils/url';
import type { MiddlewareHandler } from 'hono';
import { readConfig, type ConfigReading } from './env.ts';
import { admin } from './http/operator/admin.ts';
import { approvalPages, badLink } from './http/approver/approval-page.tsx';
import { approvals } from './http/agent/approval-status.ts';
import { discardBody } from './http/shared/body.ts';
import { calls } from './http/agent/calls.ts';
import type { HttpContext, HttpEnv } from './http/shared/context.ts';
import { docs } from './http/docs/docs.ts';
import { healthz, readyz } from './http/shared/health.ts';
import { mcp } from './http/agent/mcp.ts';
import { noAuthorizationServer, seeksAuthorizationServer } from './http/agent/no-authorization-server.ts';
import { problem } from './http/shared/problem.ts';
import { providerCalls } from './http/agent/provider-calls.ts';
import { sessions } from './http/agent/sessions.ts';
import { tools } from './http/agent/tool-definitions.ts';
import { logError, logLine } from './log-line.ts';
import type { Registry } from './tool/registry.ts';

/** The pattern of the route that answers; null where none does. Middleware matches every path and says nothing. */
function routePattern(c: HttpContext): string | null {
  return matchedRoutes(c).findLast(({ method }) => method !== 'ALL')?.path ?? null;
}

/**
 * One log line a request, of ids, patterns and fixed words: a URL holds link tokens, a header addresses and credentials.
 * Calls that were answered as usual have their lines from the session object, with the id of the request.
 */
const logged: MiddlewareHandler<HttpEnv> = async (c, next) => {
  const startedAt = Date.now();
  const requestId = crypto.randomUUID();
  c.set('requestId', requestId);
  c.header('X-Request-Id', requestId);
  await next();
  const reason = c.get('reason');
  const { status } = c.res;
  if (c.get('isLogged') === true && status === 200 && reason === undefined) return;
  logLine({
    event: 'request',
    request_id: requestId,
    method: c.req.method,
    route: routePattern(c),
    status,
    duration_ms: Date.now() - startedAt,
    ...(reason === undefined ? {} : { reason }),
  });
};

/** Nothing is stored by a cache unless its route says so. */
const uncached: MiddlewareHandler<HttpEnv> = async (c, next) => {
  await next();
  if (!c.res.headers.has('Cache-Control')) c.res.headers.set('Cache-Control', 'no-store');
};

/** Reads the rest of the body before the answer, so that its sender receives the answer. */
const bodyTaken: MiddlewareHandler<HttpEnv> = async (c, next) => {
  await next();
  await discardBody(c.req.raw);
};

/** Read once an isolate. */
const readings = new WeakMap<Env, ConfigReading>();

/** Fails closed: without its secrets and its public name the gate serves nothing, and only the log says what is missing. */
const configured: MiddlewareHandler<HttpEnv> = async (c, next) => {
  const reading = readings.get(c.env) ?? readConfig(c.env);
  readings.set(c.env, reading);
  if (reading.ok) {
    c.set('config', reading.config);
    return next();
  }
  if (reading.publicUrl !== null) c.set('publicUrl', reading.publicUrl);
  return problem(c, 'not-configured', { reason: reading.flaws.join('; ') });
};

/**
 * Only the published origin: a page that rebinds its own name to this address (DNS rebinding) sends its own name, and over plain
 * http a credential would be everybody's to read. No redirect, which would hide that it was sent so.
 */
const ownOrigin: MiddlewareHandler<HttpEnv> = async (c, next) => {
  const { protocol, host, hostname, port } = new URL(c.get('config').publicUrl);
  // The same authority, its default port written out (RFC 9110, 4.2.3).
  const hosts = [host, `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`];
  const asked = new URL(c.req.url);
  if (asked.protocol !== protocol) return problem(c, 'misdirected', { reason: 'foreign_scheme' });
  const isOwn = asked.host === host && hosts.includes(c.req.header('host')?.toLowerCase() ?? host);
  return isOwn ? next() : problem(c, 'misdirected', { reason: 'foreign_host' });
};

/**
 * Every route is served with one trailing slash as without it, because clients join URLs carelessly. An approval link is a
 * credential and is taken only as it was mailed.
 */
function servedPath(request: Request): string {
  const path = getPath(request);
  return path.length > 1 && path.endsWith('/') && !path.startsWith('/approvals/') ? path.slice(0, -1) : path;
}

/** The Worker's routes for these tools. */
export function createApp(registry: Registry): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>({ getPath: servedPath });

  app.use(logged);
  app.use(async (c, next) => {
    c.set('registry', registry);
    await next();
  });
  app.use(
    secureHeaders({
      // A page's own, stricter or other, header stands.
      overwrite: false,
      contentSecurityPolicy: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
      strictTransportSecurity: 'max-age=31536000',
      xFrameOptions: 'DENY',
      // For browsers and plug-ins that are gone.
      xDnsPrefetchControl: false,
      xDownloadOptions: false,
      xPermittedCrossDomainPolicies: false,
      xXssProtection: false,
    }),
  );
  app.use(uncached);
  app.use(bodyTaken);
  app.use(
    methodNotAllowed({
      app,
      onMethodNotAllowed: (c, methods) =>
        problem(c, 'method-not-allowed', { reason: 'method', headers: { Allow: methods.join(', ') } }),
    }),
  );
  app.route('/healthz', healthz);
  app.use(configured);
  app.use(ownOrigin);
  app.route('/readyz', readyz);
  app.route('/v1/sessions', sessions);
  app.route('/v1/calls', calls);
  app.route('/v1/calls', providerCalls);
  app.route('/v1/tools', tools);
  app.route('/v1/approvals', approvals);
  app.route('/mcp', mcp);
  app.route('/admin', admin);
  app.route('/approvals', approvalPages);
  app.route('/', docs(app));

  app.notFound(notFound);
  app.onError((error, c) => lastResort(error, c));
  return app;
}

/**
 * No input leads here but what the framework itself refuses to parse; the rest is an outage or a bug, and both are answered
 * alike. The request's id, which the client has too, is the error's.
 */
function lastResort(error: Error, c: HttpContext): Response {
  if (error instanceof HTTPException && error.status < 500) return problem(c, 'invalid-body', { reason: 'framework' });
  logError({ event: 'error', request_id: c.get('requestId'), route: routePattern(c) }, error);
  return problem(c, 'unavailable', { reason: 'exception' });
}

function notFound(c: HttpContext): Response | Promise<Response> {
  const { path } = c.req;
  if (seeksAuthorizationServer(path)) return noAuthorizationServer(c);
  // A mail client may have changed the link, and a person reads the answer.
  return path.toLowerCase().startsWith('/approvals/') ? badLink(c) : problem(c, 'not-found', { reason: 'no_route' });
}
