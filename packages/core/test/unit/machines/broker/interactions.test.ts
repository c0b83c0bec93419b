import test from 'ava';
import { BrokerDialogue, checkInteractions } from '@mutirao/testkit';

const subjects = ['scheduling', 'prefetch', 'failures', 'recovery', 'demand', 'matching', 'results', 'walltimes', 'votes', 'credibility', 'cancelled'];

for (const subject of subjects) {
  test(`a broker does what broker-${subject}.txt says`, (t) => {
    const dialogue = new BrokerDialogue();
    checkInteractions(t, new URL(`../../../interactions/broker-${subject}.txt`, import.meta.url), (lines) => dialogue.perform(lines));
  });
}
