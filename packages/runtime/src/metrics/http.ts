import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MutiraoError } from '@mutirao/api/errors';
import { addressTaken } from '../rpc/address-taken.ts';
import { parseLoopbackAddress } from '../rpc/address.ts';
import { acceptToken, findBearer } from '../rpc/tokens.ts';
import type { Metrics } from './metrics.ts';

/** Where and what to serve. */
export interface HttpOptions {
  /** `host:port`, loopback; port 0 takes a free one. */
  readonly address: string;
  readonly metrics: Metrics;
  /**
   * Shown as `Authorization: Bearer TOKEN` to read more than the health state: every account of the host can reach the
   * port.
   */
  readonly token: string;
  /** Undefined while all is well, else what is wrong. */
  healthy(): string | undefined;
}

/** A server of /metrics and /healthz. */
export interface RunningHttp {
  readonly address: string;
  close(): Promise<void>;
}

const connectionsMax = 100;

/**
 * Serves /metrics for Prometheus, with the token only, and /healthz to all: 200 "ok", or 503 "not ok", in place of
 * which who shows the token reads what is wrong. @throws {MutiraoError} MUT_LOOPBACK_ONLY, MUT_ADDRESS_TAKEN
 */
export async function startHttp(options: HttpOptions): Promise<RunningHttp> {
  const { host, port } = parseLoopbackAddress(options.address);
  const server = createServer((request, response) => {
    void answer(options, request, response);
  });
  server.headersTimeout = 10_000;
  server.requestTimeout = 10_000;
  server.maxConnections = connectionsMax;
  await listen(server, host, port);
  const bound = server.address() as AddressInfo;
  return {
    address: `${bound.family === 'IPv6' ? `[${bound.address}]` : bound.address}:${bound.port}`,
    close: () => close(server),
  };
}

async function answer(
  { metrics, healthy, token }: HttpOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = request.url?.split('?', 1)[0];
  const isAllowed = showsToken(request, token);
  try {
    if (path === '/metrics' && !isAllowed) {
      response
        .writeHead(401, { 'content-type': 'text/plain', 'www-authenticate': 'Bearer' })
        .end('Show the token of the file metrics-token of the home folder: Authorization: Bearer TOKEN\n');
    } else if (path === '/metrics') {
      const text = await metrics.text();
      response.writeHead(200, { 'content-type': metrics.contentType }).end(text);
    } else if (path === '/healthz') {
      const trouble = healthy();
      response
        .writeHead(trouble === undefined ? 200 : 503, { 'content-type': 'text/plain' })
        .end(`${describeHealth(trouble, isAllowed)}\n`);
    } else {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('Here are /metrics and /healthz.\n');
    }
  } catch (error) {
    response.writeHead(500, { 'content-type': 'text/plain' }).end(isAllowed ? `${String(error)}\n` : 'not ok\n');
  }
}

function describeHealth(trouble: string | undefined, isAllowed: boolean): string {
  if (trouble === undefined) return 'ok';
  return isAllowed ? trouble : 'not ok';
}

function showsToken({ headers: { authorization } }: IncomingMessage, token: string): boolean {
  const shown = findBearer(authorization);
  return shown !== undefined && acceptToken(token, 'reader')(shown) !== undefined;
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const refuse = (error: NodeJS.ErrnoException): void => {
      reject(
        error.code === 'EADDRINUSE'
          ? addressTaken(`${host}:${port}`, error)
          : new MutiraoError('MUT_BAD_CONFIG', `cannot listen on ${host}:${port}: ${error.message}`, { cause: error }),
      );
    };
    server.once('error', refuse);
    server.listen(port, host, () => {
      server.off('error', refuse);
      resolve();
    });
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => {
      resolve();
    });
    server.closeAllConnections();
  });
}
