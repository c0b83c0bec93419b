import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { MutiraoError } from '@mutirao/api/errors';
import { dialBroker, dialProvider, dialReservations, type CallSettings, type Closable } from '@mutirao/runtime/clients';
import { findSiteTokenAt, readToken, tokenPath } from '@mutirao/runtime/files';
import { userTrust } from '@mutirao/runtime/identity';

import type { Grid } from './grid-calls.ts';

/** How long the page waits for one answer. */
const deadlineMs = 20_000;

/** Addresses of the parts of the grid; empty for those that the home folder names. */
export interface LiveGridOptions {
  readonly home: string;
  readonly broker: string;
  readonly reservations: string;
}

type Dial<Client> = (address: string, settings: CallSettings) => Closable<Client>;

/**
 * The grid of a home folder: addresses are read when they are needed, so that a broker that comes back elsewhere is
 * found. `close` ends all connections.
 */
export function liveGrid(options: LiveGridOptions): Grid & { close(): void } {
  const { home } = options;
  const settings: CallSettings = { token: () => readToken(tokenPath(home)), trust: userTrust(home), deadlineMs };
  const dialled = new Map<string, Closable<unknown>>();
  const once = <Client>(dial: Dial<Client>, address: string, token = settings.token): Client => {
    const key = `${dial.name} ${address}`;
    const known = dialled.get(key) ?? dial(address, { ...settings, token });
    dialled.set(key, known);
    return known.client as Client;
  };
  const brokerAddress = (): string => options.broker || (addressIn(join(home, 'broker.json')) ?? '');
  return {
    brokerAddress,
    broker: () => {
      const address = brokerAddress();
      if (address === '') throw new MutiraoError('MUT_UNREACHABLE', `no broker has started in ${home}`);
      return once(dialBroker, address);
    },
    provider: (address) => once(dialProvider, address, findSiteTokenAt(home, address)),
    findReservations: () => {
      const address = options.reservations || findManager(home);
      return address === undefined ? undefined : once(dialReservations, address);
    },
    close: () => {
      for (const { close } of dialled.values()) close();
    },
  };
}

/** The only reservation manager of the home folder; undefined where there is none, or several. */
function findManager(home: string): string | undefined {
  const folder = join(home, 'reservations');
  try {
    const [name, ...others] = readdirSync(folder);
    return name === undefined || others.length > 0 ? undefined : addressIn(join(folder, name, 'reservations.json'));
  } catch {
    return undefined;
  }
}

function addressIn(path: string): string | undefined {
  try {
    const { address } = JSON.parse(readFileSync(path, 'utf8')) as { address?: unknown };
    return typeof address === 'string' && address !== '' ? address : undefined;
  } catch {
    return undefined; // Not started yet.
  }
}
