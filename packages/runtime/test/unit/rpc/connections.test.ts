import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import test from 'ava';
import { Connections, type Connection } from '../../../src/rpc/admission/connections.ts';

interface FakeSocket {
  readonly socket: Socket;
  isClosed(): boolean;
}

function aSocket(host: string, port: number): FakeSocket {
  let isClosed = false;
  const socket = Object.assign(new EventEmitter(), {
    remoteAddress: host,
    remotePort: port,
    destroy: () => {
      isClosed = true;
    },
  });
  return { socket: socket as unknown as Socket, isClosed: () => isClosed };
}

const limits = { connectionsMax: 20, unprovenMax: 4, unprovenAgeMax: 1000, unprovenGrace: 100 };

test('beyond the bound the oldest connection of the host that has most is closed, and that of another host stays', (t) => {
  const connections = new Connections(limits);
  const honest = aSocket('10.0.0.1', 1);
  connections.open(honest.socket, 0);
  const hostile = Array.from({ length: 50 }, (_, index) => aSocket('10.0.0.2', index));
  for (const [index, { socket }] of hostile.entries()) connections.open(socket, 200 + index * 200);
  t.is(connections.unprovenCount, 4);
  t.false(honest.isClosed());
  t.is(hostile.filter(({ isClosed }) => isClosed()).length, 47);
  t.false(hostile.at(-1)?.isClosed());
});

test('of many clients that come at once, those that began are not closed for the others', (t) => {
  const connections = new Connections(limits);
  const clients = Array.from({ length: 50 }, (_, index) => aSocket('10.0.0.2', index));
  const taken = clients.map(({ socket }) => connections.open(socket, 0));
  t.is(taken.filter((connection) => connection !== undefined).length, 4);
  t.deepEqual(
    clients.slice(0, 5).map(({ isClosed }) => isClosed()),
    [false, false, false, false, true],
  );
});

test('a connection with a credential is closed neither for others nor for its age, and counts until it is closed', (t) => {
  const connections = new Connections(limits);
  const proven = Array.from({ length: 16 }, (_, index) => aSocket('10.0.0.1', index));
  const taken = proven.map(({ socket }) => {
    const connection = connections.open(socket, 0) as Connection;
    connections.prove(connection);
    return connection;
  });
  const late = Array.from({ length: 8 }, (_, index) => aSocket('10.0.0.2', index));
  for (const { socket } of late) connections.open(socket, 500);
  connections.closeOld(10_000);
  t.true(proven.every(({ isClosed }) => !isClosed()));
  t.true(late.every(({ isClosed }) => isClosed()));
  t.is(connections.count, 20);
  for (const connection of taken) connections.close(connection);
  t.is(connections.count, 4);
});
