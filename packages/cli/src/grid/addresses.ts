import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { MutiraoError } from '@mutirao/api/errors';

import { findGridRecord } from './record.ts';

/** A cluster by name. */
export interface NamedAddress {
  readonly name: string;
  readonly address: string;
}

/** The clusters of the home folder's grid. @throws {MutiraoError} MUT_UNREACHABLE when there is no grid. */
export function listClusterAddresses(home: string): NamedAddress[] {
  const grid = findGridRecord(home);
  if (grid === undefined) throw new MutiraoError('MUT_UNREACHABLE', `there is no grid in ${home}; want one, or --cluster with an address`);
  return grid.clusters.map(({ name, cluster }) => ({ name, address: cluster }));
}

/** The cluster that is meant: by name, by address, or the only one. @throws {MutiraoError} MUT_BAD_REQUEST. */
export function findClusterAddress(home: string, name: string | undefined): NamedAddress {
  if (name?.includes(':') === true) return { name, address: name };
  const clusters = listClusterAddresses(home);
  const names = clusters.map((cluster) => cluster.name).join(', ');
  const [first, ...others] = name === undefined ? clusters : clusters.filter((cluster) => cluster.name === name);
  if (first === undefined) throw new MutiraoError('MUT_BAD_REQUEST', name === undefined ? 'this grid has no clusters' : `no cluster is named "${name}"; want one of ${names}`);
  if (others.length > 0) throw new MutiraoError('MUT_BAD_REQUEST', `this grid has several clusters; want --cluster with one of ${names}`);
  return first;
}

/** The address that the home folder's broker wrote when it started. @throws {MutiraoError} MUT_UNREACHABLE when there is none. */
export function findBrokerAddress(home: string): string {
  try {
    const { address } = JSON.parse(readFileSync(join(home, 'broker.json'), 'utf8')) as { address?: unknown };
    if (typeof address === 'string') return address;
  } catch (error) {
    throw new MutiraoError('MUT_UNREACHABLE', `no broker has started in ${home}`, { cause: error });
  }
  throw new MutiraoError('MUT_UNREACHABLE', `${join(home, 'broker.json')} names no address`);
}
