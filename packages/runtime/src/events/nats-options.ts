import { existsSync } from 'node:fs';

import { MutiraoError } from '@mutirao/api/errors';
import type { Bytes, Duration } from '@mutirao/core/shared';
import type { NatsOptions } from './nats.ts';

/** The NATS options of a program (`natsOptions` of `runtime/program`). */
export interface NatsConfig {
  readonly nats: string;
  readonly natsCredentials: string;
  readonly natsCa: string;
  readonly natsCertificate: string;
  readonly natsKey: string;
  readonly natsStream: string;
  readonly natsAge: Duration;
  readonly natsBytes: Bytes;
}

const ageMin = 1000;
const bytesMin = 1024 ** 2;

/**
 * The NATS server to publish events to; undefined if no server is configured.
 *
 * @throws {MutiraoError} MUT_BAD_CONFIG for options that no NATS server accepts.
 */
export function findNatsOptions(config: NatsConfig, name: string): NatsOptions | undefined {
  const {
    nats: url,
    natsCredentials: credentialsPath,
    natsStream: stream,
    natsAge: ageMax,
    natsBytes: bytesMax,
  } = config;
  if (url === '') return undefined;
  const schemes = new Set(url.split(',').map((one) => /^(nats|tls):\/\/[^\s/@,]+$/.exec(one)?.[1] ?? ''));
  if (schemes.has('') || schemes.size > 1)
    refuse('nats', url, 'nats://HOST:PORT or tls://HOST:PORT; of several, separated by commas, all the same');
  if (!/^[\w-]{1,64}$/.test(stream)) refuse('nats-stream', stream, 'up to 64 letters, digits, "_" and "-"');
  if (ageMax < ageMin) refuse('nats-age', `${ageMax}ms`, `${ageMin}ms or more`);
  if (bytesMax < bytesMin) refuse('nats-bytes', String(bytesMax), '1M or more');
  return { url, credentialsPath, ...getTlsFiles(config, schemes.has('tls')), stream, ageMax, bytesMax, name };
}

function getTlsFiles(
  { natsCa, natsCertificate, natsKey }: NatsConfig,
  isTls: boolean,
): Pick<NatsOptions, 'authorityPath' | 'certificatePath' | 'keyPath'> {
  for (const [option, path] of [
    ['nats-ca', natsCa],
    ['nats-certificate', natsCertificate],
    ['nats-key', natsKey],
  ] as const) {
    if (path === '') continue;
    if (!isTls) refuse(option, path, 'it only with --nats tls://HOST:PORT');
    if (!existsSync(path)) refuse(option, path, 'a file that is there');
  }
  if ((natsCertificate === '') !== (natsKey === '')) refuse('nats-key', natsKey, 'it together with --nats-certificate');
  return { authorityPath: natsCa, certificatePath: natsCertificate, keyPath: natsKey };
}

function refuse(option: string, found: string, wanted: string): never {
  throw new MutiraoError('MUT_BAD_CONFIG', `--${option} is ${JSON.stringify(found)}; expected ${wanted}`);
}
