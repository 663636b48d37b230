/** Parameters as Anthropic's strict tools take them: types, closed sets and formats, but no bounds and no patterns. */
import type { JsonObject } from '../json.ts';
import { nullableByUnion, strictSchema } from './strict-schema.ts';

const REFUSED = new Set([
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'maxItems',
]);

export const anthropicSchema = (parameters: JsonObject): JsonObject =>
  strictSchema(parameters, { refused: REFUSED, nullable: nullableByUnion });
