import test from 'ava';
import { describeMachine, type FactsOptions } from '../../src/machine-facts.ts';

const plain: FactsOptions = { machineId: '', providerId: '', request: '', processors: 0, site: '', attributes: [] };

test("a machine of one's own offers all its processors under its host's name", (t) => {
  const facts = describeMachine({ ...plain, providerId: 'lab' }, {});
  t.regex(facts.machineId, /^lab\/[\w.-]+$/);
  t.true(facts.processors >= 1);
  t.is(facts.until, undefined);
  t.is(facts.requestId, '');
});

test('an agent of an allocation is named after the request and its place in it, and offers one processor until the walltime ends', (t) => {
  const facts = describeMachine(
    { ...plain, providerId: 'alpha', request: '3' },
    { MUTIRAO_PROCESS_INDEX: '2', MUTIRAO_WALLTIME_END_UNIX_MS: '1700000000000' },
  );
  t.like(facts, { machineId: 'alpha/3.2', processors: 1, until: 1700000000000, requestId: '3' });
});

test('stated attributes win over found ones, their names in lower case', (t) => {
  const { attributes } = describeMachine({ ...plain, site: 'poa', attributes: ['MEM=1', 'gpu = a=b'] }, {});
  t.like(attributes, { os: 'linux', mem: '1', site: 'poa', gpu: 'a=b' });
});

test('the memory that a control group leaves stands in the attributes', (t) => {
  t.is(describeMachine({ ...plain, memoryFound: 600 * 2 ** 20 + 1 }, {}).attributes['mem'], '600');
});

test('an attribute without a value is refused', (t) => {
  for (const attribute of ['x', '=1', 'x='])
    t.throws(() => describeMachine({ ...plain, attributes: [attribute] }, {}), { code: 'MUT_BAD_CONFIG' }, attribute);
});

test('two agents of one machine have different incarnations', (t) => {
  t.not(describeMachine(plain, {}).incarnation, describeMachine(plain, {}).incarnation);
});
