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
    t.true(items.every((one, index) => one === seen[index]));
    items.splice(0, 10);
    const [first] = (await handler({ pageToken: `300/${(getKey as (of: unknown) => string)(items[290])}` }))[
      field
    ] as unknown[];
    t.true(first === items[290], 'items before it are gone: the page begins with the item that its token names');
    await t.throwsAsync(handler({ pageToken: 'next' }), {
      code: 'MUT_BAD_REQUEST',
      message: /page_token is "next"; expected the next_page_token/,
    });
  });
}

test('a page has one item at least, unless it holds something else', (t) => {
  const sizes = (...mebibytes: number[]): number[] => mebibytes.map((size) => size * 1024 * 1024);
  const getBytes = (size: number): number => size;
  t.is(countOfPage(sizes(3, 1), getBytes), 1);
  t.is(countOfPage(sizes(1, 1, 1), getBytes), 2);
  t.is(countOfPage(sizes(1, 1, 1), getBytes, 1024 * 1024), 1);
  t.is(countOfPage(sizes(3), getBytes, 1), 0);
  t.is(countOfPage([], getBytes), 0);
});
