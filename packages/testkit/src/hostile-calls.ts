import { MutiraoError } from '@mutirao/api/errors';
import type { CallContext, StreamWriter } from '@mutirao/runtime/rpc';
import { hostileMessages, messagesOfMethod } from './hostile-fields.ts';
import { aCallContext } from './inject.ts';

type Method = Readonly<{
  path: string;
  requestStream: boolean;
  responseStream: boolean;
  requestSerialize: (request: never) => Buffer;
  requestDeserialize: (bytes: Buffer) => unknown;
}>;
type Handler = (...parameters: never[]) => unknown;

/** A service whose handlers are called with hostile requests, without a socket. */
export interface HostileCalls {
  readonly methods: Readonly<Record<string, Method>>;
  readonly handlers: Readonly<Record<string, Handler>>;
  /** An honest request of each method under test. */
  readonly requests: Readonly<Record<string, unknown>>;
  readonly context?: Partial<CallContext>;
  /** Called after each call that was taken. @throws what is broken now. */
  checkWhole(): void;
  /** Called with what went wrong. */
  fail(what: string): void;
}

/** How often the service took a request, and how often it refused one. */
export interface HostileCounts {
  taken: number;
  refused: number;
}

/**
 * Calls each method with each of its fields out of range, of the wrong kind, too long, too often, twice or absent. The
 * handler has to answer, or to refuse
 * with a code of the registry that is not that of a bug.
 */
export async function tryHostileCalls({
  methods,
  handlers,
  requests,
  context,
  checkWhole,
  fail,
}: HostileCalls): Promise<HostileCounts> {
  const counts: HostileCounts = { taken: 0, refused: 0 };
  for (const [name, request] of Object.entries(requests)) {
    const { method, handler } = getMethod(methods, handlers, name);
    for (const { what, bytes } of hostileMessages(
      messagesOfMethod(method.path).request,
      method.requestSerialize(request as never),
    )) {
      const wire = decode(method, bytes);
      try {
        const isTaken = wire !== undefined && (await isTakenBy(() => call(handler, method, wire, context)));
        counts[isTaken ? 'taken' : 'refused'] += 1;
        if (isTaken) checkWhole();
      } catch (error) {
        fail(`${method.path}: ${what}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
      }
    }
  }
  return counts;
}

function getMethod(
  methods: HostileCalls['methods'],
  handlers: HostileCalls['handlers'],
  name: string,
): { readonly method: Method; readonly handler: Handler } {
  const [method, handler] = [methods[name], handlers[name]];
  if (method === undefined || handler === undefined) throw new Error(`the service has no method ${name}`);
  return { method, handler };
}

/** Whether a call is answered, and not refused. @throws errors that end a process or show a bug. */
async function isTakenBy(attempt: () => Promise<void>): Promise<boolean> {
  try {
    await attempt();
    return true;
  } catch (error) {
    if (error instanceof MutiraoError && error.code !== 'MUT_INTERNAL') return false;
    throw error;
  }
}

/** Undefined for bytes that are not a message: the server refuses them before a handler runs. */
function decode(method: Method, bytes: Buffer): unknown {
  try {
    return method.requestDeserialize(bytes);
  } catch {
    return undefined;
  }
}

async function call(
  handler: Handler,
  { requestStream, responseStream }: Method,
  wire: unknown,
  parts: Partial<CallContext> = {},
): Promise<void> {
  const gone = new AbortController();
  const context = aCallContext({ signal: gone.signal, ...parts });
  const parameters: unknown[] = [requestStream ? once(wire) : wire];
  if (responseStream) parameters.push(writerThatLeaves(gone));
  await handler(...([...parameters, context] as never[]));
}

async function* once(message: unknown): AsyncGenerator {
  yield await Promise.resolve(message);
}

/** A writer that leaves after the first message, since some answers never end. */
function writerThatLeaves(gone: AbortController): StreamWriter<unknown> {
  const write = (): boolean => {
    gone.abort();
    return true;
  };
  return { write, end: () => undefined, onDrain: undefined, drained: () => Promise.resolve() };
}
