import {
  Metadata,
  type ServerDuplexStream,
  type ServerReadableStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceDefinition,
  type UntypedHandleCall,
  type sendUnaryData,
} from '@grpc/grpc-js';
import { MutiraoError, registry, type ErrorCode, type StatusName } from '@mutirao/api/errors';
import type { Bytes, UserId } from '@mutirao/core/shared';
import type { RevokedSerials } from '../identity/index.ts';
import type { Audit, AuditAction } from '../audit/index.ts';
import type { Logger, RepeatedLines } from '../log/index.ts';
import { answerTooLarge } from './answer-too-large.ts';
import type { CallContext } from './context.ts';
import { serverStream, serverWriter } from './call-stream.ts';
import type { AnyHandler, BidiHandler, ClientStreamHandler, ServerStreamHandler, UnaryHandler } from './handlers.ts';
import { Malformed } from './malformed.ts';
import type { OpenCalls } from './open-calls.ts';
import { readPeer, type Peer, type ShownCertificate } from './peers.ts';
import { toMutiraoError, toStatus } from './status.ts';
import { findBearer, type TokenCheck } from './tokens.ts';

/** What the handlers of a server share. */
export interface RpcHost {
  readonly tokens: TokenCheck;
  /** Serial numbers of revoked certificates; undefined if callers show tokens. */
  readonly revoked: RevokedSerials | undefined;
  readonly log: Logger;
  /** Logs refusals, of which callers can cause any number. */
  readonly refusals: RepeatedLines;
  readonly audit: Audit;
  /** The largest message that is sent. */
  readonly messageBytesMax: Bytes;
  /** Aborted when the server begins to drain. */
  readonly stopping: AbortSignal;
  /** Streams both ways that are open now; drain closes them. */
  readonly streams: Set<{ close(error?: MutiraoError): void }>;
  /** Long calls of those who showed a certificate. */
  readonly certified: OpenCalls;
  /** Counts an ended call; code is empty for success. */
  count(path: string, code: string): void;
}

interface SurfaceCall {
  readonly metadata: Metadata;
  getAuthContext(): { readonly sslPeerCertificate?: ShownCertificate };
  getDeadline(): Date | number;
  /** Address of the caller; `unknown` at a socket of the file system. */
  getPeer(): string;
  /** Also once it has ended well. */
  readonly cancelled: boolean;
  on(event: 'cancelled', listener: () => void): unknown;
  sendMetadata(values: Metadata): void;
}

type Method = ServiceDefinition[string];

/** How the audit log records successful calls of a method. */
export interface AuditedMethod {
  readonly action: AuditAction;
  /** What it was done to; empty where the action says all. Undefined for a call that changed nothing. */
  target(request: never, response: never): string | undefined;
}

/**
 * A handler as grpc-js calls it: checks the credential, reports errors by their code, and counts each call.
 *
 * @param audited left out for methods that change nothing.
 */
export function adapt(method: Method, handler: AnyHandler, host: RpcHost, audited?: AuditedMethod): UntypedHandleCall {
  if (method.requestStream && method.responseStream)
    return adaptBidi(method, handler as BidiHandler<unknown, unknown>, host);
  if (method.requestStream)
    return adaptClientStream(method, handler as ClientStreamHandler<unknown, unknown>, host, audited);
  if (method.responseStream) return adaptServerStream(method, handler as ServerStreamHandler<unknown, unknown>, host);
  return adaptUnary(method, handler as UnaryHandler<unknown, unknown>, host, audited);
}

/** Writes down what a call did. */
function recordDone(
  host: RpcHost,
  audited: AuditedMethod | undefined,
  { userId, from }: CallContext,
  [request, response]: readonly [unknown, unknown],
): void {
  const target = audited?.target(request as never, response as never);
  if (audited !== undefined && target !== undefined)
    host.audit.record({ action: audited.action, who: userId, from, ...(target === '' ? {} : { target }) });
}

/** A caller that was let in. */
interface Admitted {
  readonly context: CallContext;
  /** Undefined where a credential was shown. */
  readonly peer: Peer | undefined;
}

/** @throws {MutiraoError} MUT_UNAUTHENTICATED */
export function admit(call: SurfaceCall, host: RpcHost): Admitted {
  const { userId, credential, peer } =
    host.revoked === undefined ? admitByToken(call, host.tokens) : admitByCertificate(call, host.revoked);
  const deadline = Number(call.getDeadline());
  let signal: AbortSignal | undefined;
  return {
    context: {
      userId,
      credential,
      deadline: Number.isFinite(deadline) ? deadline : undefined,
      stopping: host.stopping,
      get from() {
        return getFrom(call);
      },
      get signal() {
        return (signal ??= getSignal(call));
      },
      begin: (values) => {
        call.sendMetadata(getMetadata(values));
      },
    },
    peer,
  };
}

function getFrom(call: SurfaceCall): string {
  const peer = call.getPeer();
  return peer === 'unknown' ? 'socket' : peer;
}

/**
 * Made when it is asked for: few calls do, every call ends as if it were cancelled, and the error of an abort costs as
 * much as a small answer.
 */
function getSignal(call: SurfaceCall): AbortSignal {
  const controller = new AbortController();
  if (call.cancelled) controller.abort();
  else
    call.on('cancelled', () => {
      controller.abort();
    });
  return controller.signal;
}

function getMetadata(values: Readonly<Record<string, string>>): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(values)) metadata.set(name, value);
  return metadata;
}

interface Caller {
  readonly userId: UserId;
  readonly credential: string;
  readonly peer?: Peer;
}

function admitByToken(call: SurfaceCall, tokens: TokenCheck): Caller {
  return userOfToken(findBearer(call.metadata.get('authorization')[0]), tokens);
}

/** Whose token it is. @throws {MutiraoError} MUT_UNAUTHENTICATED */
export function userOfToken(
  credential: string | undefined,
  tokens: TokenCheck,
): { readonly userId: UserId; readonly credential: string } {
  if (credential === undefined)
    throw new MutiraoError('MUT_UNAUTHENTICATED', 'no credential; expected metadata "authorization: Bearer TOKEN"');
  const userId = tokens(credential);
  if (userId === undefined) throw new MutiraoError('MUT_UNAUTHENTICATED', 'the credential is not accepted');
  return { userId, credential };
}

function admitByCertificate(call: SurfaceCall, revoked: RevokedSerials): Caller {
  const peer = readPeer(call.getAuthContext().sslPeerCertificate, revoked);
  // The connection may be older than what has happened to its certificate.
  peer.requireGood(Date.now());
  return { userId: peer.userId, credential: '', peer };
}

function adaptUnary(
  { path, responseSerialize }: Method,
  handler: UnaryHandler<unknown, unknown>,
  host: RpcHost,
  audited: AuditedMethod | undefined,
): UntypedHandleCall {
  return (call: ServerUnaryCall<unknown, unknown>, callback: sendUnaryData<unknown>): void => {
    respond(
      { path, host, call },
      async (onAdmitted) => {
        const request = findRequest(call.request);
        const { context } = admit(call, host);
        onAdmitted(context.userId);
        const response = await handler(request, context);
        recordDone(host, audited, context, [request, response]);
        const bytes = responseSerialize(response);
        if (bytes.length > host.messageBytesMax) throw await answerTooLarge(path, bytes, host.messageBytesMax);
        return bytes;
      },
      callback,
    );
  };
}

function adaptClientStream(
  { path }: Method,
  handler: ClientStreamHandler<unknown, unknown>,
  host: RpcHost,
  audited: AuditedMethod | undefined,
): UntypedHandleCall {
  return (call: ServerReadableStream<unknown, unknown>, callback: sendUnaryData<unknown>): void => {
    respond(
      { path, host, call },
      async (onAdmitted) => {
        const { context, peer } = admit(call, host);
        onAdmitted(context.userId);
        const answer = handler(getRequests(call), context);
        const response = await (peer === undefined ? answer : untilStale(host.certified, peer, answer));
        recordDone(host, audited, context, [undefined, response]);
        return response;
      },
      callback,
    );
  };
}

/** The answer to a long call, or the refusal once the caller's certificate is no longer valid. */
async function untilStale(certified: OpenCalls, peer: Peer, answer: Promise<unknown>): Promise<unknown> {
  const { promise: refused, reject } = Promise.withResolvers<never>();
  const call = { close: reject };
  certified.add(call, peer);
  try {
    return await Promise.race([answer, refused]);
  } finally {
    certified.forget(call);
  }
}

/** A call that is being served. */
interface Served {
  readonly path: string;
  readonly host: RpcHost;
  readonly call: SurfaceCall;
}

/** Answers with what `answer` resolves to, or with the status of what it threw. */
function respond(
  { path, host, call }: Served,
  answer: (onAdmitted: (userId: UserId) => void) => Promise<unknown>,
  callback: sendUnaryData<unknown>,
): void {
  const from = getFrom(call);
  let userId: UserId | undefined;
  void answer((admitted) => {
    userId = admitted;
  }).then(
    (response) => {
      host.count(path, '');
      callback(null, response);
    },
    (error: unknown) => {
      const refusal = getRefusal(error, { path, host, call });
      recordRefusal(refusal, { path, host, call, from, userId });
      callback(toStatus(refusal));
    },
  );
}

function adaptServerStream(
  { path }: Method,
  handler: ServerStreamHandler<unknown, unknown>,
  host: RpcHost,
): UntypedHandleCall {
  return (call: ServerWritableStream<unknown, unknown>): void => {
    const writer = serverWriter(call);
    const from = getFrom(call);
    let userId: UserId | undefined;
    writer.onOver = (error) => {
      host.certified.forget(writer);
      recordRefusal(error, { path, host, call, from, userId });
    };
    const run = async (): Promise<void> => {
      const { context, peer } = admit(call, host);
      ({ userId } = context);
      host.certified.add(writer, peer);
      await handler(findRequest(call.request), writer, context);
    };
    void run().then(
      () => {
        host.count(path, '');
        writer.end();
      },
      (error: unknown) => {
        writer.close(getRefusal(error, { path, host, call }));
      },
    );
  };
}

function adaptBidi({ path }: Method, handler: BidiHandler<unknown, unknown>, host: RpcHost): UntypedHandleCall {
  return (call: ServerDuplexStream<unknown, unknown>): void => {
    const stream = serverStream(call, { log: host.log, refusals: host.refusals });
    const from = getFrom(call);
    let userId: UserId | undefined;
    host.streams.add(stream);
    // A stream may end long after it was admitted, by a refused message or an expired credential.
    stream.onOver = (error) => {
      host.streams.delete(stream);
      host.certified.forget(stream);
      host.count(path, error?.code ?? '');
      recordRefusal(error, { path, host, call, from, userId });
    };
    try {
      const { context, peer } = admit(call, host);
      ({ userId } = context);
      host.certified.add(stream, peer);
      handler(stream, context);
    } catch (error) {
      stream.close(getRefusal(error, { path, host, call }, false));
    }
  };
}

function findRequest(request: unknown): unknown {
  if (request instanceof Malformed) throw request.error;
  return request;
}

async function* getRequests(call: ServerReadableStream<unknown, unknown>): AsyncGenerator {
  for await (const message of call) yield findRequest(message);
  if (call.cancelled) throw new MutiraoError('MUT_CANCELLED', 'the other side left');
}

/** The error to report, counted; logged too if the operator should see it. */
function getRefusal(error: unknown, { path, host }: Served, isCounted = true): MutiraoError {
  const refusal = toMutiraoError(error);
  if (isCounted) host.count(path, refusal.code);
  if (refusal.code === 'MUT_INTERNAL') host.log.error({ err: error, path }, 'a call failed');
  else if (refusal.code === 'MUT_PROTOCOL' || refusal.code === 'MUT_UNAUTHENTICATED')
    host.refusals.warn(`${refusal.code} ${path}`, { path, reason: refusal.message }, 'a call is refused');
  return refusal;
}

/** A call that ended. */
interface Ended extends Served {
  /** Where it came from: its connection may be gone. */
  readonly from: string;
  /** The user at admission, since the credential may have expired; undefined to take it from the call. */
  readonly userId: UserId | undefined;
}

/** Writes down that a call was refused, if that is for the audit log. */
function recordRefusal(error: MutiraoError | undefined, { path, host, call, from, userId }: Ended): void {
  if (error === undefined || !isForAudit(error)) return;
  host.audit.record({
    action: 'call.refuse',
    who: userId ?? getCaller(call, host),
    from,
    target: path,
    refusedWith: error.code,
    detail: error.message,
  });
}

const auditedStatuses: ReadonlySet<StatusName> = new Set<StatusName>(['UNAUTHENTICATED', 'PERMISSION_DENIED']);
/** Others that are for the audit log: the second agent with a credential may have copied it. */
const auditedCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'MUT_USER_QUOTA',
  'MUT_PROTOCOL',
  'MUT_MACHINE_ATTACHED',
]);

/** Whether somebody asked for what is not theirs, or for more than they may have. */
function isForAudit({ code }: MutiraoError): boolean {
  return auditedStatuses.has(registry[code].status) || auditedCodes.has(code);
}

/** Who calls; empty where no credential was accepted. */
function getCaller(call: SurfaceCall, host: RpcHost): UserId {
  try {
    return admit(call, host).context.userId;
  } catch {
    return ''; // A caller that is not admitted is the refusal to record.
  }
}
