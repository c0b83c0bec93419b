import Type, { type Static } from 'typebox';
import { Reason } from './reason.ts';

/** Why something is where it is. */
export const Explanation = Type.Object({
  subject: Type.String({ description: 'What was asked about: `job 5`, `task 7 of job 5`, `request alpha/3`.' }),
  summary: Reason,
  waiting: Type.Union([Reason, Type.Null()], { description: 'Why the object waits; null where it does not wait.' }),
  details: Type.Array(Reason, { description: 'The most important first.' }),
});
export type Explanation = Static<typeof Explanation>;
