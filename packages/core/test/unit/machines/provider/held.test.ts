import test from 'ava';
import { ProviderDialogue } from '@mutirao/testkit';

test('what was said of a claim is forgotten once no broker wants anything with it, and not while a broker may not have said yet', (t) => {
  const dialogue = new ProviderDialogue({ holding: { kind: 'fixed', lead: 10_000 } });
  const said = (): number => dialogue.state.judgements.size;
  dialogue.perform(['start', 'limits requests=4 width=4 walltime=100000', 'listing', 'connect b', 'windows 7:20000-60000x2', 'at 10000', 'accepted q1', 'attach q1.0', 'attach q1.1']);
  dialogue.perform(['at 20000', 'demand b 0 inside=7:20000-60000x2/2']);
  dialogue.perform(['judged 7:20000-60000x2']);
  t.is(said(), 1);
  dialogue.perform(['disconnect b', 'connect b']);
  t.is(said(), 1);
  dialogue.perform(['demand b 0 inside=7:20000-60000x2/2']);
  t.is(said(), 1);
  dialogue.perform(['demand b 0']);
  t.is(said(), 0);
  dialogue.perform(['judged 7:20000-60000x2']);
  t.is(said(), 0, 'an answer that comes late is not kept');
});
