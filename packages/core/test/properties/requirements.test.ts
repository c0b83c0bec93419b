import test from 'ava';
import fc from 'fast-check';
import {
  evaluate,
  explainMatch,
  parseRequirements,
  printExpression,
  type Expression,
} from '@mutirao/core/requirements';
import { runs } from '@mutirao/testkit';

const names = ['os', 'mem', 'gpu', 'site'];
const values = ['linux', '1', '2', '1.5', 'a b', 'x"y', 'and', ''];

const anyAtom: fc.Arbitrary<Expression> = fc.record({
  kind: fc.constant('compare' as const),
  name: fc.constantFrom(...names),
  comparison: fc.constantFrom('==', '!=', '<', '>', '<=', '>='),
  wanted: fc.constantFrom(...values),
});

const anyExpression = fc.letrec<{ tree: Expression }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    anyAtom,
    fc.record({ kind: fc.constant('not' as const), part: tie('tree') }),
    fc.record({
      kind: fc.constantFrom('all' as const, 'any' as const),
      parts: fc.array(tie('tree'), { minLength: 2, maxLength: 3 }),
    }),
  ),
})).tree;

const anyAttributes = fc.dictionary(fc.constantFrom(...names), fc.constantFrom(...values));

test('an expression that is printed reads back as the same expression', (t) => {
  fc.assert(
    fc.property(anyExpression, (expression) => {
      const parsed = parseRequirements(printExpression(expression));
      t.deepEqual(parsed.kind === 'error' ? undefined : parsed.expression, expression);
    }),
    runs(11, 500),
  );
});

test('a negation turns a match into none, and leaves what is undefined so', (t) => {
  const opposite = { match: 'no match', 'no match': 'match', undefined: 'undefined' } as const;
  fc.assert(
    fc.property(anyExpression, anyAttributes, (expression, attributes) => {
      const plain = evaluate({ kind: 'requirements', text: '', expression }, attributes);
      const negated = evaluate(
        { kind: 'requirements', text: '', expression: { kind: 'not', part: expression } },
        attributes,
      );
      return negated === opposite[plain];
    }),
    runs(12, 1000),
  );
  t.pass();
});

test('stating one more attribute never takes back a verdict', (t) => {
  fc.assert(
    fc.property(
      anyExpression,
      anyAttributes,
      fc.constantFrom(...names),
      fc.constantFrom(...values),
      (expression, attributes, name, value) => {
        const requirements = { kind: 'requirements', text: '', expression } as const;
        const before = evaluate(requirements, attributes);
        if (before === 'undefined' || Object.hasOwn(attributes, name)) return true;
        return evaluate(requirements, { ...attributes, [name]: value }) === before;
      },
    ),
    runs(13, 1000),
  );
  t.pass();
});

test('an explanation is given exactly where there is no match', (t) => {
  fc.assert(
    fc.property(anyExpression, anyAttributes, (expression, attributes) => {
      const requirements = { kind: 'requirements', text: '', expression } as const;
      return (
        (explainMatch('m1', requirements, attributes).length === 0) === (evaluate(requirements, attributes) === 'match')
      );
    }),
    runs(14, 1000),
  );
  t.pass();
});

test('any text is either read or refused at a place within it', (t) => {
  const anyText = fc.oneof(
    fc.string(),
    fc
      .array(fc.constantFrom(...'()!&|=<>"\\ ;a1', 'not', ' and ', 'version '), { maxLength: 40 })
      .map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(anyText, (text) => {
      const parsed = parseRequirements(text);
      if (parsed.kind === 'requirements') return true;
      const { character } = parsed.fault;
      return character >= 1 && character <= text.length + 1;
    }),
    runs(15, 3000),
  );
  t.pass();
});
