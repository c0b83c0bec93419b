import { invariant } from './invariant.ts';

/** One function for each kind of message. A kind without one does not compile. */
export type HandlersByKind<Context, Message extends { readonly kind: string }> = {
  readonly [Kind in Message['kind']]: (context: Context, message: Extract<Message, { readonly kind: Kind }>) => void;
};

/**
 * Calls the function for a message's kind. Used where a machine has more kinds than a readable `switch` has cases.
 *
 * @throws {InvariantError} for a kind that the types rule out.
 */
export function dispatch<Context, Message extends { readonly kind: string }>(
  handlers: HandlersByKind<Context, Message>,
  context: Context,
  message: Message,
): void {
  const byKind: Readonly<Record<string, ((context: Context, message: never) => void) | undefined>> = handlers;
  const handle = Object.hasOwn(byKind, message.kind) ? byKind[message.kind] : undefined;
  invariant(handle !== undefined, () => `no handler for ${JSON.stringify(message)}`);
  // The type of the table guarantees that the function takes a message of this kind.
  handle(context, message as never);
}
