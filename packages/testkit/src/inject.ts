import type { CallContext, UnaryHandler } from '@mutirao/runtime/rpc';

/** The context of a call that nobody cancels, from the user `ana`; `parts` replaces what a test is about. */
export function aCallContext(parts: Partial<CallContext> = {}): CallContext {
  return {
    userId: 'ana',
    credential: 'secret',
    from: 'socket',
    deadline: undefined,
    signal: new AbortController().signal,
    stopping: new AbortController().signal,
    begin: () => undefined,
    ...parts,
  };
}

/**
 * Calls a unary handler as the server would, without a socket: decode, handle, encode. @throws the error that a caller
 * would get.
 */
export async function inject<In, Out>(
  handler: UnaryHandler<In, Out>,
  request: In,
  context: Partial<CallContext> = {},
): Promise<Out> {
  return handler(request, aCallContext(context));
}
