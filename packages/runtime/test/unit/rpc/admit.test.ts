import { EventEmitter } from 'node:events';
import { Metadata } from '@grpc/grpc-js';
import test from 'ava';
import { quietAudit } from '../../../src/audit/index.ts';
import { quietLogger, RepeatedLines } from '../../../src/log/index.ts';
import { admit, type RpcHost } from '../../../src/rpc/adapt.ts';
import { acceptToken } from '../../../src/rpc/tokens.ts';
import { OpenCalls } from '../../../src/rpc/open-calls.ts';

const host: RpcHost = {
  tokens: acceptToken('secret', 'ana'),
  revoked: undefined,
  log: quietLogger,
  refusals: new RepeatedLines(quietLogger),
  audit: quietAudit,
  stopping: new AbortController().signal,
  streams: new Set(),
  certified: new OpenCalls(),
  messageBytesMax: 1024,
  count: () => undefined,
};

/** A call as grpc-js gives it to handlers. */
class FakeCall extends EventEmitter {
  readonly metadata = new Metadata();
  cancelled = false;

  constructor() {
    super();
    this.metadata.set('authorization', 'Bearer secret');
  }

  getAuthContext(): object {
    return {};
  }

  getDeadline(): number {
    return Infinity;
  }

  getPeer(): string {
    return 'unknown';
  }

  sendMetadata(): void {
    throw new Error('nothing is to be sent ahead');
  }

  cancel(): void {
    this.cancelled = true;
    this.emit('cancelled');
  }
}

test('a handler that asks whether the caller is gone learns it, also if it asks afterwards', (t) => {
  const [soon, late] = [new FakeCall(), new FakeCall()];
  const { context } = admit(soon, host);
  const { signal } = context;
  t.false(signal.aborted);
  soon.cancel();
  t.true(signal.aborted);
  t.is(context.signal, signal);
  const { context: other } = admit(late, host);
  late.cancel();
  t.true(other.signal.aborted);
});

test('a call whose handler does not ask whether the caller is gone has nobody listening for it', (t) => {
  const call = new FakeCall();
  t.is(admit(call, host).context.userId, 'ana');
  t.is(call.listenerCount('cancelled'), 0);
});
