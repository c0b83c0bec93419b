// Whatever the body of a request to the page is, the page lives, and says what is wrong with it: each field of each
// body of another type, too long, out of range, absent or unknown, and bodies that are none.
import test from 'ava';
import { Value } from 'typebox/value';
import type { TSchema } from 'typebox';
import { quietLogger } from '@mutirao/runtime/log';
import { acceptToken } from '@mutirao/runtime/rpc';
import { AnsweringBroker, fakePageGrid, webHeaders, webToken } from '@mutirao/testkit';
import { apiPrefix, routes, type RouteName } from '../../src/schema/index.ts';
import { loopbackHosts, makeGateway, makeStaticFiles } from '../../src/server/index.ts';

interface HostileBody {
  readonly what: string;
  readonly body: string;
}

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** What stands in place of a value. */
const replacements: readonly Json[] = [
  null,
  true,
  -1,
  0,
  1.5,
  1e308,
  -1e308,
  Number.MAX_SAFE_INTEGER,
  2 ** 53,
  '',
  'x',
  '\0',
  '\ud800',
  '../../x',
  '$(id)',
  '{}',
  'a'.repeat(100_000),
  [],
  [null],
  [[]],
  Array.from({ length: 2000 }, () => 'x'),
  {},
  { a: 1 },
  JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}') as Json,
];

/** Variants of a document: each value replaced by each of the replacements, left out, or joined by an unknown one. */
function* changes(value: Json, way = 'body'): Generator<{ readonly what: string; readonly value: Json | undefined }> {
  for (const [index, other] of replacements.entries()) yield { what: `${way} is replacement ${index}`, value: other };
  yield { what: `${way} is absent`, value: undefined };
  if (value === null || typeof value !== 'object') return;
  for (const [name, inner] of Object.entries(value)) {
    for (const change of changes(inner, `${way}.${name}`))
      yield {
        what: change.what,
        value: Array.isArray(value)
          ? value.map((old, index) => (String(index) === name ? (change.value ?? null) : old))
          : ({ ...value, [name]: change.value } as Json),
      };
  }
  if (!Array.isArray(value)) yield { what: `${way} has an unknown field`, value: { ...value, unknown: 'x' } };
}

/** Fields that are checked further than their schema says. */
const known: Readonly<Record<string, Json>> = {
  directory: '/home/ana',
  format: 'yaml',
  scheduler: 'workqueue',
  command: 'echo {}',
  content_base64: 'eA==',
  id: 'a',
  processors: 1,
};

/** A value that a schema allows, with one item in each list and all optional fields. */
function plausible(schema: TSchema): Json {
  const { properties, items, anyOf } = schema as unknown as {
    readonly properties?: Record<string, TSchema>;
    readonly items?: TSchema;
    readonly anyOf?: readonly TSchema[];
  };
  if (properties !== undefined)
    return Object.fromEntries(
      Object.entries(properties).map(([name, inner]) => [name, known[name] ?? plausible(inner)]),
    );
  if (items !== undefined && !Array.isArray(items)) return [plausible(items)];
  if (anyOf?.[0] !== undefined) return plausible(anyOf[0]);
  return Value.Create(schema) as Json;
}

function* hostileBodies(schema: TSchema): Generator<HostileBody> {
  for (const { what, value } of changes(plausible(schema))) yield { what, body: JSON.stringify(value) ?? '' };
  for (const body of [
    '{',
    '"',
    'nil',
    '[',
    '{"a":1}{',
    '\0',
    `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
    `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`,
    '{"__proto__":{"x":1}}',
    '1e999',
    '\ufeff{}',
  ])
    yield { what: `the body is ${body.slice(0, 20)}`, body };
}

const withBody = (Object.keys(routes) as RouteName[]).filter((name) => routes[name].method !== 'GET');

test("no body of a request ends the page, and what is wrong with one is the caller's fault", async (t) => {
  const server = makeGateway({
    grid: fakePageGrid(new AnsweringBroker()),
    clock: { now: () => 1_010_000 },
    userId: 'ana',
    home: '/home/ana/.mutirao',
    program: 'mutirao',
    directory: '/home/ana',
    version: '0',
    tokens: acceptToken(webToken, 'ana'),
    hosts: () => loopbackHosts(7777),
    files: () => makeStaticFiles(new Map()),
    log: quietLogger,
    instance: 'i1',
  }).server;
  const counts = new Map<number, number>();
  const faults: string[] = [];
  t.true(withBody.length > 3, withBody.join());
  for (const name of withBody) {
    const { method, path, body: schema } = routes[name];
    for (const { what, body } of hostileBodies(schema)) {
      const { statusCode, body: said } = await server.inject({
        method,
        url: `${apiPrefix}${path.replaceAll(/:\w+/g, '1')}`,
        headers: { ...webHeaders, 'content-type': 'application/json' },
        payload: body,
      });
      counts.set(statusCode, (counts.get(statusCode) ?? 0) + 1);
      if (statusCode === 500 || (statusCode >= 400 && !/"code":"[A-Z_]+"/.test(said)))
        faults.push(`${name}: ${what}: ${statusCode} ${said.slice(0, 200)}`);
    }
  }
  t.log(Object.fromEntries(counts));
  t.is(({} as { polluted?: unknown }).polluted, undefined);
  t.deepEqual(faults.slice(0, 10), [], `${faults.length} faults`);
});
