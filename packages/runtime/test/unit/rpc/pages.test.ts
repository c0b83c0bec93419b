// Lists of any call in pages of bounded bytes, tried with long texts in all fields of all items.
import test from 'ava';
import { BrokerServiceService } from '@mutirao/api/broker';
import { ClusterServiceService } from '@mutirao/api/cluster';
import { pagedAnswers } from '@mutirao/api/paged-answers';
import { ProtoFiles } from '@mutirao/api/proto-files';
import { GridMachineProviderServiceService } from '@mutirao/api/provider';
import { ReservationServiceService } from '@mutirao/api/reservation';
import { countOfPage, inPages } from '@mutirao/runtime/rpc';

const { registry } = new ProtoFiles();
type Message = NonNullable<ReturnType<typeof registry.getMessage>>;
type Field = Message['fields'][number];
type Page = Readonly<Record<string, unknown>> & { readonly nextPageToken?: string };

const services = [
  BrokerServiceService,
  ClusterServiceService,
  GridMachineProviderServiceService,
  ReservationServiceService,
].flatMap((service) => Object.values(service));

/** A message with a long text of its own in each field that can have one. */
function filled(type: Message, index: number): Record<string, unknown> {
  return Object.fromEntries(
    type.members.map((member) => [member.localName, member.kind === 'oneof' ? undefined : getValue(member, index)]),
  );
}

function getValue(field: Field, index: number): unknown {
  if (field.fieldKind === 'list') return [];
  if (field.fieldKind === 'map') return {};
  if (field.fieldKind === 'message') return filled(field.message, index);
  if (field.fieldKind === 'enum') return 0;
  if (field.proto.type === 9) return `${index} ${'é'.repeat(4000)}`; // TYPE_STRING
  if (field.proto.type === 12) return Buffer.alloc(0); // TYPE_BYTES
  return field.proto.type === 8 ? false : index; // TYPE_BOOL
}

for (const [path, { field, getKey }] of Object.entries(pagedAnswers)) {
  const [, service = '', method = ''] = path.split('/');
  const output = registry.getService(service)?.methods.find(({ name }) => name === method)?.output;
  const definition = services.find((one) => one.path === path);
  const item = output?.field[field]?.message;

  test(`${method} of ${service} is answered in pages that any client takes, each item once`, async (t) => {
    if (output === undefined || definition === undefined || item === undefined) return t.fail('there is no such list');
    const serialize = definition.responseSerialize as (response: unknown) => Buffer;
    const items = Array.from({ length: 400 }, (_, index) => filled(item, index));
    const handler = inPages(
      path,
      () => ({ ...filled(output, 0), nextPageToken: undefined, [field]: items }),
      serialize,
    ) as (request: { pageToken?: string }) => Promise<Page>;
    const seen: unknown[] = [];
    let pages = 0;
    for (let place = {}; ; pages += 1) {
      const page = await handler(place);
      t.true(serialize(page).length < 4 * 1024 * 1024);
      seen.push(...(page[field] as unknown[]));
      if (page.nextPageToken === undefined) break;
      place = { pageToken: page.nextPageToken };
    }
    t.true(pages > 0);
    t.is(seen.length, items.length);
    t.deepEqual(new Set(seen), new Set(items));
    t.is(
      (await changedBetweenPages(handler, items, { field, getKey: getKey as (item: unknown) => string })).length,
      items.length,
    );
    await t.throwsAsync(handler({ pageToken: 'next' }), {
      code: 'MUT_BAD_REQUEST',
      message: /page_token is "next"; expected the next_page_token/,
    });
  });
}

/** The keys of a list that is turned around, and of which the next item leaves and comes back, after each page. */
async function changedBetweenPages(
  handler: (request: { pageToken?: string }) => Promise<Page>,
  items: unknown[],
  { field, getKey }: { readonly field: string; readonly getKey: (item: unknown) => string },
): Promise<string[]> {
  const seen = new Set<string>();
  for (let pageToken: string | undefined; ; ) {
    const page = await handler(pageToken === undefined ? {} : { pageToken });
    for (const item of page[field] as unknown[]) {
      const key = getKey(item);
      if (seen.has(key)) throw new Error(`${key.slice(0, 20)} came twice`);
      seen.add(key);
    }
    pageToken = page.nextPageToken;
    if (pageToken === undefined) return [...seen];
    items.reverse();
    const index = items.findIndex((item) => pageToken?.endsWith(getKey(item)));
    items.push(...items.splice(index, 1));
  }
}

test('a list of one page keeps its order, and a longer one comes in the order of its keys as people count', async (t) => {
  const scores = (count: number, name: string): unknown[] =>
    Array.from({ length: count }, (_, index) => ({
      userId: `${name}${count - index}`,
      score: index,
      countedCount: 0,
      precisionMean: 0,
    }));
  const handlerOf = (list: unknown[]): ((request: object) => Promise<Page>) =>
    inPages(
      '/mutirao.cluster.v1.ClusterService/GetScores',
      () => ({ ordersQueue: false, weight: 0, leadMsMax: 0, scores: list }),
      ClusterServiceService.getScores.responseSerialize as (response: never) => Uint8Array,
    ) as (request: object) => Promise<Page>;
  const namesOf = (page: Page): string[] =>
    (page['scores'] as { userId: string }[]).map(({ userId }) => userId.slice(-4).replaceAll('é', ''));
  t.deepEqual(namesOf(await handlerOf(scores(3, 'u'))({})), ['u3', 'u2', 'u1']);
  t.deepEqual(
    namesOf(await handlerOf(scores(800, 'é'.repeat(2000)))({}))
      .slice(0, 11)
      .join(' '),
    '1 2 3 4 5 6 7 8 9 10 11',
  );
});

test('a page has one item at least, unless it holds something else', (t) => {
  const sizes = (...mebibytes: number[]): number[] => mebibytes.map((size) => size * 1024 * 1024);
  const getBytes = (size: number): number => size;
  t.is(countOfPage(sizes(3, 1), getBytes), 1);
  t.is(countOfPage(sizes(1, 1, 1), getBytes), 2);
  t.is(countOfPage(sizes(1, 1, 1), getBytes, 1024 * 1024), 1);
  t.is(countOfPage(sizes(3), getBytes, 1), 0);
  t.is(countOfPage([], getBytes), 0);
});
