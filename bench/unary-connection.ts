import { connect, constants, type ClientHttp2Session } from 'node:http2';

/** A method with one answer, as service definitions have it. */
export interface UnaryMethod<Request, Response> {
  readonly path: string;
  requestSerialize(request: Request): Buffer;
  responseDeserialize(bytes: Buffer): Response;
}

const {
  HTTP2_HEADER_METHOD: method,
  HTTP2_HEADER_PATH: path,
  HTTP2_HEADER_SCHEME: scheme,
  HTTP2_HEADER_TE: te,
  HTTP2_HEADER_CONTENT_TYPE: contentType,
} = constants;
const prefixLength = 5;
const windowBytes = 1024 * 1024;

/**
 * A connection for calls with one answer, for programs that make load on the processors that they measure: it sends and
 * reads what gRPC has on the wire, deadline
 * and token included, and does nothing beyond that, which takes a fraction of what the client of grpc-js does.
 */
export class UnaryConnection {
  readonly #session: ClientHttp2Session;
  readonly #headers: Readonly<Record<string, string>>;
  #failure: Error | undefined;

  /** @param address host:port of a server that speaks without TLS. */
  constructor(address: string, token: string) {
    this.#session = connect(`http://${address}`, { settings: { initialWindowSize: windowBytes } });
    this.#session.on('error', (error) => {
      this.#failure = error;
    });
    this.#headers = {
      [method]: 'POST',
      [scheme]: 'http',
      [te]: 'trailers',
      [contentType]: 'application/grpc',
      'user-agent': 'mutirao-bench',
      'grpc-timeout': '60S',
      authorization: `Bearer ${token}`,
    };
  }

  /** @throws {Error} when the connection breaks, or the answer is an error. */
  call<Request, Response>(called: UnaryMethod<Request, Response>, request: Request): Promise<Response> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      const stream = this.#session.request({ ...this.#headers, [path]: called.path });
      const parts: Buffer[] = [];
      let [status, message] = ['', 'the connection broke'];
      const heed = (headers: Readonly<Record<string, unknown>>): void => {
        if (headers['grpc-status'] !== undefined)
          [status, message] = [String(headers['grpc-status']), String(headers['grpc-message'] ?? '')];
      };
      // Of an answer without a message the status is in the first headers.
      stream.on('response', heed);
      stream.on('trailers', heed);
      stream.on('data', (part: Buffer) => {
        parts.push(part);
      });
      stream.on('error', reject);
      stream.on('close', () => {
        if (status === '0') resolve(called.responseDeserialize(findMessage(parts)));
        else reject(new Error(`${called.path}: ${status} ${message}`));
      });
      stream.end(framed(called.requestSerialize(request)));
    });
  }

  close(): void {
    this.#session.destroy();
  }
}

/** A message as gRPC sends it: not compressed, its length, its bytes. */
function framed(message: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(prefixLength + message.length);
  bytes[0] = 0;
  bytes.writeUInt32BE(message.length, 1);
  message.copy(bytes, prefixLength);
  return bytes;
}

function findMessage(parts: readonly Buffer[]): Buffer {
  return (parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)).subarray(prefixLength);
}
