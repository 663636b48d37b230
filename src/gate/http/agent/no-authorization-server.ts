/**
 * MCP clients whose token was refused look for an authorization server (RFC 9728, RFC 8414) and try to register with it
 * (RFC 7591). Toolgate has no authorization server. Clients show the body of the last answer, so the body says what to do.
 */
import type { HttpContext } from '../shared/context.ts';
import { problem } from '../shared/problem.ts';

const PATHS =
  /^\/(?:\.well-known\/(?:oauth-protected-resource|oauth-authorization-server|openid-configuration)(?:\/mcp)?|register)$/;
const NONE = 'There is no authorization server. Use a session token: open a session with POST /v1/sessions.';

export const seeksAuthorizationServer = (path: string): boolean => PATHS.test(path);

/** `error` and `error_description` are the members that such clients read (RFC 6749, 5.2). */
export const noAuthorizationServer = (c: HttpContext): Response =>
  problem(c, 'not-found', {
    reason: 'no_authorization_server',
    members: { detail: NONE, error: 'invalid_request', error_description: NONE },
  });
