import { Metadata, status, type ServiceError } from '@grpc/grpc-js';
import { asBuffer } from '@mutirao/api/codecs';
import { isErrorCode, MutiraoError, registry, type ErrorCode } from '@mutirao/api/errors';
import { Reason } from '@mutirao/api/common';
import { decodeReason, encodeReason } from '@mutirao/api/reasons';
import { BadRequest, ErrorInfo, Status } from '@mutirao/api/status';
import { InvariantError, describeError } from '@mutirao/core/shared';

const domain = 'mutirao';
const detailsKey = 'grpc-status-details-bin';
const errorInfoType = 'type.googleapis.com/google.rpc.ErrorInfo';
/** Characters of a message that travel, each of which may take nine bytes. */
const messageLengthMax = 2000;
const reasonType = 'type.googleapis.com/mutirao.common.v1.Reason';
const badRequestType = 'type.googleapis.com/google.rpc.BadRequest';

/** What grpc-js takes as the end of a call that failed. */
export interface FailedStatus {
  readonly code: status;
  readonly details: string;
  readonly metadata: Metadata;
}

/** The gRPC status of an error, with details that keep its code, and its reason where it has one. */
export function toStatus(error: MutiraoError): FailedStatus {
  const code = status[registry[error.code].status];
  // A message may quote what came in, and headers have to hold it.
  const message =
    error.message.length <= messageLengthMax ? error.message : `${error.message.slice(0, messageLengthMax)}...`;
  const details = [
    {
      typeUrl: errorInfoType,
      value: asBuffer(ErrorInfo.encode({ reason: error.code, domain, metadata: {} }).finish()),
    },
  ];
  if (error.field !== undefined) {
    const violation = { fieldViolations: [{ field: error.field, description: message }] };
    details.push({ typeUrl: badRequestType, value: asBuffer(BadRequest.encode(violation).finish()) });
  }
  if (error.reason !== undefined)
    details.push({ typeUrl: reasonType, value: asBuffer(Reason.encode(encodeReason(error.reason)).finish()) });
  const metadata = new Metadata();
  metadata.set(detailsKey, asBuffer(Status.encode({ code, message, details }).finish()));
  return { code, details: message, metadata };
}

/**
 * The error that a failed call means, with the code of the other side or, from a foreign server, the nearest one.
 *
 * @param call names the peer, for an error that suggests the right address.
 */
export function fromStatus(error: ServiceError, call?: { getPeer(): string }): MutiraoError {
  return (
    fromDetails(error) ??
    new MutiraoError(getCode(error), findMismatch(error, call) ?? describeFailure(error), { cause: error })
  );
}

/**
 * That one end speaks TLS and the other does not, and which address to write instead; undefined for any other failure.
 */
function findMismatch({ code, details }: ServiceError, call: { getPeer(): string } | undefined): string | undefined {
  if (code !== status.UNAVAILABLE) return undefined;
  const peer = call?.getPeer() ?? 'the other side';
  const socket = findPlainSocket(peer);
  if (notTls.test(details)) {
    return (
      `${peer} speaks no TLS: ` +
      `${socket === undefined ? "another program than Mutirao's listens there; change the address" : `the address is tls://${socket}; expected ${socket}`}`
    );
  }
  return socket !== undefined && closedAtOnce.test(details)
    ? `${peer} closed the connection before any call: if a server with TLS listens there, change the address to ` +
        `tls://${socket}`
    : undefined;
}

/** What grpc-js says of a connection, without the words around it: `No connection established. Last error: ... `. */
function describeFailure({ details, message }: ServiceError): string {
  const said = details || message;
  const [, cause] =
    /^No connection established\. Last error: (?:Error: )?(.*?)\.?\s*(?:Resolution note:.*)?$/s.exec(said) ?? [];
  return cause === undefined || cause === '' ? said : `cannot connect: ${cause}`;
}

/** The address without TLS of the socket that a call went to; undefined for a port. */
function findPlainSocket(peer: string): string | undefined {
  return peer.startsWith('unix:') ? peer : undefined;
}

/** What OpenSSL says where the other side answers without TLS. */
const notTls = /wrong version number|unknown protocol|http request|packet length too long/i;
/** What grpc-js says where a connection was made, and closed without an error before HTTP/2 was agreed on. */
const closedAtOnce = /Last error: Failed to connect \(/;

function fromDetails(error: ServiceError): MutiraoError | undefined {
  // A call that ended before it began has no metadata, whatever its type says.
  const [bytes] = (error.metadata as Metadata | undefined)?.get(detailsKey) ?? [];
  if (!Buffer.isBuffer(bytes)) return undefined;
  try {
    return fromDetailBytes(bytes, error);
  } catch {
    return undefined; // Details that cannot be read are as good as none: the status itself is still there.
  }
}

function fromDetailBytes(bytes: Buffer, error: ServiceError): MutiraoError | undefined {
  const { details } = Status.decode(bytes);
  const info = details.find(({ typeUrl }) => typeUrl === errorInfoType);
  const { reason, domain: found } = info === undefined ? { reason: '', domain: '' } : ErrorInfo.decode(info.value);
  if (found !== domain || !isErrorCode(reason)) return undefined;
  const request = details.find(({ typeUrl }) => typeUrl === badRequestType);
  const field = request === undefined ? undefined : BadRequest.decode(request.value).fieldViolations[0]?.field;
  const why = details.find(({ typeUrl }) => typeUrl === reasonType);
  return new MutiraoError(reason, error.details, {
    cause: error,
    ...(field === undefined ? {} : { field }),
    ...(why === undefined ? {} : { reason: decodeReason(Reason.decode(why.value), 'reason') }),
  });
}

const codes: Partial<Record<status, ErrorCode>> = {
  [status.CANCELLED]: 'MUT_CANCELLED',
  [status.DEADLINE_EXCEEDED]: 'MUT_DEADLINE_EXCEEDED',
  [status.INVALID_ARGUMENT]: 'MUT_BAD_REQUEST',
  [status.RESOURCE_EXHAUSTED]: 'MUT_OVERLOADED',
  [status.UNAUTHENTICATED]: 'MUT_UNAUTHENTICATED',
  [status.UNAVAILABLE]: 'MUT_UNREACHABLE',
  [status.UNIMPLEMENTED]: 'MUT_UNIMPLEMENTED',
};

function getCode({ code, details }: ServiceError): ErrorCode {
  if (code === status.INTERNAL && /pars|deserializ/i.test(details)) return 'MUT_PROTOCOL';
  if (code === status.UNAVAILABLE && /certificate|altnames/i.test(details)) return 'MUT_UNTRUSTED';
  // Both sides of grpc-js say it so. A smaller message would go through, the same one never.
  if (code === status.RESOURCE_EXHAUSTED && /message .*larger than/i.test(details)) return 'MUT_BAD_REQUEST';
  // The connection broke while the call was open.
  if (code === status.INTERNAL && details.includes('RST_STREAM')) return 'MUT_UNREACHABLE';
  return codes[code] ?? 'MUT_INTERNAL';
}

/**
 * The operating error to report to a caller after `error` was thrown while serving it.
 *
 * @throws {InvariantError} the same error: a bug in Mutirao ends the process.
 */
export function toMutiraoError(error: unknown): MutiraoError {
  if (error instanceof MutiraoError) return error;
  if (error instanceof InvariantError) throw error;
  return new MutiraoError('MUT_INTERNAL', describeError(error), { cause: error });
}
