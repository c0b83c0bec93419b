import type { ServiceDefinition, UntypedServiceImplementation } from '@grpc/grpc-js';
import { findAccess } from '@mutirao/api/access';
import { MutiraoError } from '@mutirao/api/errors';
import type { UserId } from '@mutirao/core/shared';
import { adapt, type AuditedMethod, type RpcHost } from './adapt.ts';
import type { CallContext } from './context.ts';
import type { AnyHandler, Handlers } from './handlers.ts';
import { tolerant } from './malformed.ts';
import { inPages } from './pages.ts';
import type { TokenCheck } from './tokens.ts';

/** A service with its handlers, ready to be served. */
export interface ServiceBinding {
  /** Full name, as health checks name it. */
  readonly name: string;
  readonly definition: ServiceDefinition;
  /** The host of its calls: that of the server, with the service's own tokens if it has any. */
  getHost(host: RpcHost): RpcHost;
  /**
   * Of agents: how many machines share the credential that a call came with, each of which has quotas. Undefined where
   * its callers are users.
   */
  readonly machinesOf: ((userId: UserId) => number) | undefined;
  /** The handlers as grpc-js calls them. @param host of its calls. */
  implement(host: RpcHost): UntypedServiceImplementation;
}

/** What sets a service apart from the others of its server. */
export interface BindOptions<Raw> {
  /** Methods whose messages are passed as the bytes that travel. */
  readonly raw?: readonly Raw[];
  /** Instead of the server's; with TLS too, callers of this service show such a token and no certificate. */
  readonly tokens?: TokenCheck;
  /** How many machines share a credential of the service's own; one when left out. */
  readonly machinesOf?: (userId: UserId) => number;
  /**
   * How the audit log records successful calls, by method. Methods that are left out change nothing; handlers of
   * bidirectional streams record theirs themselves.
   */
  readonly audited?: AuditedMethods;
  /** Who owns the process: only this user may call the methods whose row in the table of access says so. */
  readonly ownerId?: UserId;
}

/** By the name of the method, as handlers have it. */
export type AuditedMethods = Readonly<Record<string, AuditedMethod>>;

const keepBytes = (bytes: Buffer): Buffer => bytes;
/** Answers of unary calls are encoded before grpc-js has them, to see how large they are. */
const orBytes =
  (serialize: (response: never) => Buffer) =>
  (response: unknown): Buffer =>
    Buffer.isBuffer(response) ? response : serialize(response as never);

/**
 * Joins a generated service definition and one handler per method. @throws {Error} for a method without a row in the
 * table of access.
 */
export function bind<D extends ServiceDefinition, Raw extends keyof D & string = never>(
  definition: D,
  handlers: Handlers<D, Raw>,
  options: BindOptions<Raw> = {},
): ServiceBinding {
  const raw = new Set<string>(options.raw ?? []);
  const methods = Object.entries(definition).map(
    ([name, method]) =>
      [
        name,
        raw.has(name)
          ? { ...method, requestDeserialize: keepBytes, responseSerialize: keepBytes }
          : {
              ...method,
              requestDeserialize: tolerant(method.requestDeserialize),
              responseSerialize: orBytes(method.responseSerialize),
            },
      ] as const,
  );
  const guarded = Object.fromEntries(
    methods.map(([name, { path, responseSerialize }]) => [
      name,
      guard(
        path,
        inPages(path, (handlers as Record<string, AnyHandler>)[name] as AnyHandler, responseSerialize),
        options.ownerId,
      ),
    ]),
  );
  return {
    name: Object.values(definition)[0]?.path.split('/')[1] ?? '',
    definition: Object.fromEntries(methods),
    machinesOf: options.tokens === undefined ? undefined : (options.machinesOf ?? (() => 1)),
    getHost: (host) => (options.tokens === undefined ? host : { ...host, tokens: options.tokens, revoked: undefined }),
    implement: (host) =>
      Object.fromEntries(
        methods.map(([name, method]) => [
          name,
          adapt(method, guarded[name] as AnyHandler, host, options.audited?.[name]),
        ]),
      ),
  };
}

/** A handler behind the check that the table of access asks for. */
function guard(path: string, handler: AnyHandler, ownerId: UserId | undefined): AnyHandler {
  if (findAccess(path).callers !== 'owner') return handler;
  if (ownerId === undefined)
    throw new Error(`${path} is for the owner of the process; expected its name with the service`);
  const method = path.slice(path.lastIndexOf('/') + 1);
  // The context is the last parameter of handlers of each kind.
  return (...parameters: unknown[]) => {
    const { userId } = parameters.at(-1) as CallContext;
    if (userId !== ownerId)
      throw new MutiraoError(
        'MUT_NOT_OWNER',
        `${method} is for ${ownerId} alone, who owns this process; you are ${userId}`,
      );
    return (handler as (...all: unknown[]) => unknown)(...parameters);
  };
}
