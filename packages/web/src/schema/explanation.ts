import Type, { type Static } from 'typebox';

/** Why something is where it is. */
export const Explanation = Type.Object({
  subject: Type.String({ description: 'What was asked about: `job 5`, `task 7 of job 5`, `request alpha/3`.' }),
  summary: Type.String({ description: 'One sentence that answers the question.' }),
  details: Type.Array(Type.String(), { description: 'Sentences, the most telling first.' }),
});
export type Explanation = Static<typeof Explanation>;
