// Proves which grids count as running on another host, whose processes must not be touched from here.
import { hostname } from 'node:os';
import test from 'ava';
import { findProcessSpace, isElsewhere, type GridRecord } from '../../../src/grid/record.ts';

const record = (more: Partial<GridRecord>): GridRecord => ({
  pid: 1,
  startedUnixMs: 0,
  broker: '',
  clusters: [],
  machines: 0,
  processes: {},
  ...more,
});

test('a grid stays on this host when the host changes its name', (t) => {
  const processSpace = findProcessSpace() ?? '';
  t.not(processSpace, '');
  t.false(isElsewhere(record({ host: 'former-name', processSpace })));
  t.true(isElsewhere(record({ host: 'former-name' })), 'a record of an earlier program names the host alone');
});

test('another host, or a container with process numbers of its own, is elsewhere', (t) => {
  const [boot = '', space = ''] = (findProcessSpace() ?? '').split(' ');
  t.true(isElsewhere(record({ host: 'other', processSpace: `${boot} pid:[1]` })));
  t.true(isElsewhere(record({ host: 'other', processSpace: `00000000-0000-0000-0000-000000000000 ${space}` })));
});

test('a host that started again still has its own record', (t) => {
  t.false(isElsewhere(record({ host: hostname(), processSpace: 'another boot pid:[1]' })));
  t.false(isElsewhere(record({})));
});
