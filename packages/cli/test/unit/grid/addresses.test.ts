import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';

import { temporaryFolder } from '@mutirao/testkit';
import { hasCluster, listClusterAddresses } from '../../../src/grid/addresses.ts';

const gone = 999_999_999;

function writeCluster(home: string, name: string, address: string, pid: number): void {
  mkdirSync(join(home, 'clusters', name), { recursive: true });
  writeFileSync(join(home, 'clusters', name, 'cluster.json'), JSON.stringify({ address, pid }));
}

test('a cluster whose process has ended is left out and reported, unless it may run on another host', (t) => {
  const home = temporaryFolder(t);
  writeCluster(home, 'local', 'unix:/nowhere/cluster-local', gone);
  t.throws(() => listClusterAddresses(home), { message: /no cluster runs in .*; ended: local/ });
  writeCluster(home, 'far', '10.0.0.1:4000', gone);
  const ended: string[] = [];
  const found = listClusterAddresses(home, (name) => ended.push(name));
  t.deepEqual(found, [{ name: 'far', address: '10.0.0.1:4000' }]);
  t.deepEqual(ended, ['local']);
});

test('a home folder knows the clusters that have started there', (t) => {
  const home = temporaryFolder(t);
  writeCluster(home, 'c1', 'unix:/nowhere/c1', gone);
  t.deepEqual([hasCluster(home, 'c1'), hasCluster(home, 'c2')], [true, false]);
});
