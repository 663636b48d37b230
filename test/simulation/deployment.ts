/** What every simulated deployment is configured with. Public: it opens nothing but a test. */
export const PUBLIC_URL = 'https://toolgate.test';
export const VARIABLES = {
  PUBLIC_URL,
  ADMIN_TOKEN: 'a'.repeat(64),
  TOOLGATE_SECRET: 'b'.repeat(64),
  MAIL_FROM: 'gate@toolgate.test',
};
