import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { MutiraoError } from '@mutirao/api/errors';

import { findGridRecord, isOurs } from './record.ts';

/** A cluster by name. */
export interface NamedAddress {
  readonly name: string;
  readonly address: string;
}

/**
 * The clusters of the home folder's grid, or without a grid those that run there by themselves.
 *
 * @param onEnded called for each that ran there and has ended.
 * @throws {MutiraoError} MUT_UNREACHABLE when there is neither.
 */
export function listClusterAddresses(home: string, onEnded: (name: string) => void = () => undefined): NamedAddress[] {
  const grid = findGridRecord(home);
  if (grid !== undefined) return grid.clusters.map(({ name, cluster }) => ({ name, address: cluster }));
  const clusters = listFolders(join(home, 'clusters'))
    .map((name) => findOwnCluster(home, name))
    .filter((cluster) => cluster !== undefined);
  if (clusters.length === 0)
    throw new MutiraoError(
      'MUT_UNREACHABLE',
      `there is no grid in ${home}, and no cluster has started there; expected one, or --cluster with an address`,
    );
  const ended = clusters.filter((cluster) => hasEnded(home, cluster));
  const running = clusters.filter((cluster) => !ended.includes(cluster));
  const names = ended.map(({ name }) => name).join(', ');
  if (running.length === 0)
    throw new MutiraoError(
      'MUT_UNREACHABLE',
      `no cluster runs in ${home}; ended: ${names}. Start one with "mutirao run cluster --id NAME"`,
    );
  for (const { name } of ended) onEnded(name);
  return running;
}

/**
 * The cluster that is meant: by name, by address, or the only one. @throws {MutiraoError} MUT_BAD_REQUEST,
 * MUT_UNREACHABLE.
 */
export function findClusterAddress(home: string, name: string | undefined): NamedAddress {
  if (name?.includes(':') === true) return { name, address: name };
  const clusters = listClusterAddresses(home);
  const names = clusters.map((cluster) => cluster.name).join(', ');
  const [first, ...others] = name === undefined ? clusters : clusters.filter((cluster) => cluster.name === name);
  // A cluster may have been started outside the grid.
  const found = first ?? (name === undefined ? undefined : findOwnCluster(home, name));
  if (found === undefined)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      name === undefined ? 'this grid has no clusters' : `no cluster is named "${name}"; expected one of ${names}`,
    );
  if (others.length > 0)
    throw new MutiraoError('MUT_BAD_REQUEST', `there are several clusters; expected --cluster with one of ${names}`);
  return found;
}

/** Whether a cluster of that name has started in a home folder. */
export function hasCluster(home: string, name: string): boolean {
  return existsSync(clusterInfoPath(home, name));
}

function clusterInfoPath(home: string, name: string): string {
  return join(home, 'clusters', name, 'cluster.json');
}

/** Whether the process of a cluster of this host has ended; one that is reached over the network may run elsewhere. */
function hasEnded(home: string, { name, address }: NamedAddress): boolean {
  if (!/^(?:unix:|127\.|localhost:|\[::1\])/.test(address)) return false;
  const { pid } = JSON.parse(readFileSync(clusterInfoPath(home, name), 'utf8')) as { readonly pid?: number };
  return pid !== undefined && !isOurs(pid, 'cluster');
}

/** A cluster by the address that it wrote when it started; undefined where there is none. */
function findOwnCluster(home: string, name: string): NamedAddress | undefined {
  const path = clusterInfoPath(home, name);
  return existsSync(path) ? { name, address: readAddress(path, `${path} cannot be read`) } : undefined;
}

/** Whether a reservation manager has ever started in the home folder, or is named in the environment. */
export function hasReservations(home: string): boolean {
  return (process.env['MUTIRAO_RESERVATIONS'] ?? '') !== '' || listFolders(join(home, 'reservations')).length > 0;
}

/**
 * The reservation manager that is meant: by address, by its name in the home folder, or the only one there. @throws
 * {MutiraoError} MUT_UNREACHABLE, MUT_BAD_REQUEST
 */
export function findReservationsAddress(home: string, name: string | undefined): string {
  if (name?.includes(':') === true) return name;
  const folder = join(home, 'reservations');
  const names = listFolders(folder).filter((one) => name === undefined || one === name);
  const [first, ...others] = names;
  if (first === undefined) {
    const which = name === undefined ? 'reservation manager' : `reservation manager "${name}"`;
    throw new MutiraoError(
      'MUT_UNREACHABLE',
      `no ${which} has started in ${home}; start one with "mutirao run reservations", or use --manager with an ` +
        'address',
    );
  }
  if (others.length > 0)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `there are several reservation managers; expected --manager with one of ${names.join(', ')}`,
    );
  return readAddress(join(folder, first, 'reservations.json'), `the reservation manager "${first}" has not started`);
}

function listFolders(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && code !== 'ENOTDIR')
      throw new MutiraoError('MUT_UNREACHABLE', `${folder} cannot be read: ${message}`, { cause: error });
    return [];
  }
}

function readAddress(path: string, otherwise: string): string {
  let address: unknown;
  try {
    ({ address } = JSON.parse(readFileSync(path, 'utf8')) as { address?: unknown });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new MutiraoError(
      'MUT_UNREACHABLE',
      code === undefined || code === 'ENOENT' ? otherwise : `${path} cannot be read: ${message}`,
      { cause: error },
    );
  }
  if (typeof address !== 'string') throw new MutiraoError('MUT_UNREACHABLE', `${path} names no address`);
  return address;
}

/**
 * The address that the home folder's broker wrote when it started. @throws {MutiraoError} MUT_UNREACHABLE when there is
 * none.
 */
export function findBrokerAddress(home: string): string {
  return readAddress(join(home, 'broker.json'), `no broker has started in ${home}`);
}
