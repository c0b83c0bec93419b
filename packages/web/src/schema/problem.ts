import Type, { type Static } from 'typebox';
import { Reason } from './reason.ts';

/** What every refusal of the gateway says, whatever its HTTP status. */
export const Problem = Type.Object({
  code: Type.String({ description: 'A code of the error registry (docs/reference/errors.md).' }),
  message: Type.String({ description: 'What is wrong, with the value found and the value wanted.' }),
  advice: Type.String({ description: 'What to do about it, in a sentence.' }),
  retryable: Type.Boolean({
    description: 'Whether the same call may go well later by itself: the broker is away, say.',
  }),
  reason: Type.Optional(Reason),
  line: Type.Optional(Type.Integer({ description: 'Where in a text it is wrong, counted from 1.' })),
  column: Type.Optional(Type.Integer({ description: 'As `line`.' })),
});
export type Problem = Static<typeof Problem>;
