import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';

import type { FastifyInstance } from 'fastify';

import { MutiraoError } from '@mutirao/api/errors';

/**
 * The port that the gateway of this home folder had last time; undefined where there was none. A page that is still
 * open finds it there again.
 */
export function findFormerPort(infoPath: string): number | undefined {
  try {
    const { address } = JSON.parse(readFileSync(infoPath, 'utf8')) as { address?: unknown };
    const [, port] = /:(\d{1,5})$/.exec(String(address)) ?? [];
    return port === undefined ? undefined : Number(port);
  } catch {
    return undefined;
  }
}

/** Listens, at the former port where any will do and it is free. @returns the port. */
export async function listenOn(
  server: FastifyInstance,
  { host, port, former }: { readonly host: string; readonly port: number; readonly former: number | undefined },
): Promise<number> {
  const tries = port === 0 && former !== undefined ? [former, 0] : [port];
  for (const [index, wanted] of tries.entries()) {
    try {
      await server.listen({ host, port: wanted });
      break;
    } catch (error) {
      if (index === tries.length - 1 || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE')
        throw listenError(`${host}:${wanted}`, error as NodeJS.ErrnoException);
    }
  }
  return (server.server.address() as AddressInfo).port;
}

function listenError(address: string, error: NodeJS.ErrnoException): MutiraoError {
  if (error.code === 'EADDRINUSE')
    return new MutiraoError('MUT_ADDRESS_TAKEN', `cannot listen on ${address}: another process listens there`, {
      cause: error,
    });
  return new MutiraoError('MUT_BAD_CONFIG', `cannot listen on ${address}: ${error.message}`, { cause: error });
}
