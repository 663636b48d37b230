/** Variables of the Worker as a command line gives them. */

/** The platform's rule for the names of variables, and no name that this repository's scripts set themselves. */
const NAME = /^(?!PUBLIC_URL$)[A-Z][A-Z0-9_]*$/;

/** Reads `NAME=VALUE` pairs; throws with what to write where one is none. */
export function readVariables(pairs: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, name = '', value = ''] = /^([^=]*)=([^]*)$/.exec(pair) ?? [];
      if (!NAME.test(name) || value === '')
        throw new Error(
          `--var takes NAME=VALUE with a name in capitals, such as --var SHOP_ORIGIN=http://127.0.0.1:9000.`,
        );
      return [name, value];
    }),
  );
}
