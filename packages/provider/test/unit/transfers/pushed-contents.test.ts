import test from 'ava';
import { encodeContent } from '@mutirao/api/codecs';
import type { AgentLink, BrokerLink } from '../../../src/relay/links.ts';
import { pushedFrame } from '../../../src/standby/spool-delivery.ts';
import { PushedContents } from '../../../src/transfers/pushed-contents.ts';

const content = { sha256: 'a'.repeat(64), size: 7 };
const frame = pushedFrame('p/m', { transferId: 't1', content: encodeContent(content), isKept: false });

/** A broker's stream, and the messages that it received. */
function aBroker(): { readonly broker: BrokerLink; readonly reported: Buffer[] } {
  const reported: Buffer[] = [];
  return {
    reported,
    broker: {
      write: (bytes: Buffer) => {
        reported.push(bytes);
      },
    } as unknown as BrokerLink,
  };
}

function anAgent(): { identity: { machineId: string }; broker: BrokerLink | undefined } {
  return { identity: { machineId: 'p/m' }, broker: undefined };
}

test('a push that begins while kept reports precede it is announced once: fetched twice, the second time nobody would give it', (t) => {
  const pushed = new PushedContents();
  const { broker, reported } = aBroker();
  const agent = anAgent();
  agent.broker = broker;
  pushed.announce(agent as unknown as AgentLink, { transferId: 't1', content });
  pushed.repeat(agent as unknown as AgentLink);
  t.deepEqual(reported, [frame]);
});

test('a waiting push is announced to the stream that its machine comes to, and to each that takes over', (t) => {
  const pushed = new PushedContents();
  const agent = anAgent();
  const { forget } = pushed.announce(agent as unknown as AgentLink, { transferId: 't1', content });
  for (const { broker, reported } of [aBroker(), aBroker()]) {
    agent.broker = broker;
    pushed.repeat(agent as unknown as AgentLink);
    t.deepEqual(reported, [frame]);
  }
  forget();
  const { broker, reported } = aBroker();
  agent.broker = broker;
  pushed.repeat(agent as unknown as AgentLink);
  t.deepEqual(reported, []);
});
