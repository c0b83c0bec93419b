import Type, { type Static } from 'typebox';

/** Why something is as it is: a code for programs, and one sentence for people. */
export const Reason = Type.Object({
  code: Type.String({ description: 'Stable; empty for a sentence without one.' }),
  parameters: Type.Record(Type.String(), Type.Unknown(), { description: 'The last word of a name is its unit.' }),
  text: Type.String(),
});
export type Reason = Static<typeof Reason>;
