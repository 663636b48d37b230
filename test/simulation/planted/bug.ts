/** A bug as a change of text: nothing in the product knows of it. */
export type Replacement = { file: string; find: string; replace: string };
export type PlantedBug = { name: string; replacements: Replacement[] };
