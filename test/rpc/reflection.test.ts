// Server reflection as clients of other makers use it: the files as a compiler makes them, complete with what they
// import.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import { ClusterServiceService } from '@mutirao/api/cluster';
import { ProtoFiles } from '@mutirao/api/proto-files';
import { ServerReflectionService } from '@mutirao/api/reflection';
import { quietLogger } from '@mutirao/runtime/log';
import { acceptToken, bind, serve, type Handlers } from '@mutirao/runtime/rpc';
import { discardSocket, forbidLeaks, freeSocket } from '@mutirao/testkit';
import {
  reflect,
  reflectFiles,
  reflectServices,
  type ReflectionAnswer,
  type ReflectionQuestion,
} from '@mutirao/testkit/access';
import test, { type ExecutionContext } from 'ava';

forbidLeaks(test);

const root = fileURLToPath(new URL('../../', import.meta.url));
const metadata = new Metadata();
metadata.set('authorization', 'Bearer secret');
const listed = [
  'grpc.health.v1.Health',
  'grpc.reflection.v1.ServerReflection',
  'grpc.reflection.v1alpha.ServerReflection',
  'mutirao.cluster.v1.ClusterService',
];

async function served(t: ExecutionContext) {
  const server = await serve({
    address: freeSocket(),
    tokens: acceptToken('secret', 'ana'),
    log: quietLogger,
    services: [bind(ClusterServiceService, {} as Handlers<typeof ClusterServiceService>)],
  });
  const client = new Client(server.address, credentials.createInsecure());
  t.teardown(async () => {
    client.close();
    await server.drain(1000);
    discardSocket(server.address);
  });
  return { client, server };
}

/** The files of proto/ as buf compiles them now. */
async function compiled(): Promise<ProtoFiles> {
  const { stdout } = await promisify(execFile)(
    `${root}node_modules/.bin/buf`,
    ['build', '--exclude-source-info', '--as-file-descriptor-set', '-o', '-#format=binpb'],
    { cwd: root, encoding: 'buffer', maxBuffer: 2 ** 24 },
  );
  return new ProtoFiles(stdout);
}

const asked = (client: Client, question: ReflectionQuestion): Promise<ReflectionAnswer | undefined> =>
  reflect(client, [question], 'v1', metadata).then(([answer]) => answer);
const symbol = (value: string): ReflectionQuestion => ({ $case: 'fileContainingSymbol', value });

for (const version of ['v1', 'v1alpha'] as const) {
  test.serial(
    `${version}: all files of the services that a server lists are those of proto/, byte for byte, with all that they import`,
    async (t) => {
      const { client } = await served(t);
      const names = await reflectServices(client, version, metadata);
      t.deepEqual(names, listed);
      const expected = await compiled();
      for (const name of names) {
        const needed = new Set([expected.findSymbol(name)!]);
        for (const file of needed) for (const imported of file.dependencies) needed.add(imported);
        const files = await reflectFiles(client, [name], version, metadata);
        t.deepEqual(
          files.map((bytes) => bytes.toString('base64')).sort(),
          [...needed].map(({ bytes }) => bytes.toString('base64')).sort(),
          name,
        );
      }
      t.true(
        (await reflectFiles(client, ['mutirao.broker.v1.BrokerService'], version, metadata)).length > 2,
        'it imports others',
      );
    },
  );
}

test.serial(
  'every file of proto/ and every import is found by its name, and comes with its imports once over a stream',
  async (t) => {
    const { client } = await served(t);
    const all = (await compiled()).all();
    t.true(all.length > 10);
    const answers = await reflect(
      client,
      all.map(({ name }) => ({ $case: 'fileByFilename', value: name })),
      'v1',
      metadata,
    );
    t.deepEqual(
      answers.map((answer) =>
        answer.$case === 'fileDescriptorResponse' ? answer.value.fileDescriptorProto[0]?.toString('base64') : answer,
      ),
      all.map(({ bytes }) => bytes.toString('base64')),
    );
    const [broker, ...again] = await Promise.all(
      [['BrokerService'], ['BrokerService', 'BrokerService.SubmitJob']].map((names) =>
        reflectFiles(
          client,
          names.map((name) => `mutirao.broker.v1.${name}`),
          'v1',
          metadata,
        ),
      ),
    );
    t.deepEqual(again, [[...(broker ?? []), broker?.[0]]], 'what was asked for comes again, what it imports does not');
  },
);

test.serial(
  'services, methods, messages, fields, oneofs, enums and their values are found, nested ones too; what is unknown is NOT_FOUND',
  async (t) => {
    const { client } = await served(t);
    const expected = await compiled();
    const places: readonly (readonly [string, string])[] = [
      ['mutirao.cluster.v1.ClusterService', 'mutirao/cluster/v1/cluster.proto'],
      ['mutirao.cluster.v1.ClusterService.GetQueue', 'mutirao/cluster/v1/cluster.proto'],
      ['mutirao.broker.v1.TaskGroup', 'mutirao/broker/v1/broker.proto'],
      ['mutirao.broker.v1.TaskGroup.command', 'mutirao/broker/v1/broker.proto'],
      ['mutirao.broker.v1.TaskGroup.values', 'mutirao/broker/v1/broker.proto'],
      ['mutirao.common.v1.Root', 'mutirao/common/v1/common.proto'],
      ['mutirao.common.v1.ROOT_PLAYPEN', 'mutirao/common/v1/common.proto'],
      ['google.rpc.ErrorInfo.MetadataEntry', 'google/rpc/error_details.proto'],
      ['grpc.health.v1.HealthCheckResponse.ServingStatus', 'grpc/health/v1/health.proto'],
      ['grpc.health.v1.HealthCheckResponse.SERVING', 'grpc/health/v1/health.proto'],
      ['google.protobuf.Any', 'google/protobuf/any.proto'],
    ];
    for (const [name, file] of places) {
      const answer = await asked(client, symbol(name));
      t.deepEqual(
        answer?.$case === 'fileDescriptorResponse' ? answer.value.fileDescriptorProto[0]?.toString('base64') : answer,
        expected.findFile(file)?.bytes.toString('base64'),
        name,
      );
    }
    const unknown: readonly ReflectionQuestion[] = [
      ...[
        'mutirao.cluster.v1.Nothing',
        '.mutirao.cluster.v1.ClusterService',
        'mutirao.cluster.v1',
        'ClusterService',
        'constructor',
        '__proto__',
        '',
      ].map(symbol),
      ...[
        'cluster.proto',
        'mutirao.cluster.v1.proto',
        '/etc/passwd',
        '../proto/mutirao/cluster/v1/cluster.proto',
        'constructor',
        '',
      ].map((value): ReflectionQuestion => ({ $case: 'fileByFilename', value })),
      {
        $case: 'fileContainingExtension',
        value: { containingType: 'mutirao.broker.v1.TaskGroup', extensionNumber: 1 },
      },
      { $case: 'fileContainingExtension', value: { containingType: 'constructor', extensionNumber: -1 } },
      { $case: 'allExtensionNumbersOfType', value: 'mutirao.broker.v1.Nothing' },
      { $case: 'allExtensionNumbersOfType', value: 'mutirao.common.v1.Root' },
    ];
    for (const question of unknown)
      t.like(
        await asked(client, question),
        { $case: 'errorResponse', value: { errorCode: 5 } },
        JSON.stringify(question),
      );
    t.deepEqual(await asked(client, { $case: 'allExtensionNumbersOfType', value: 'mutirao.broker.v1.TaskGroup' }), {
      $case: 'allExtensionNumbersResponse',
      value: { baseTypeName: 'mutirao.broker.v1.TaskGroup', extensionNumber: [] },
    });
    t.like(
      await asked(client, undefined as unknown as ReflectionQuestion),
      { $case: 'errorResponse', value: { errorCode: 3 } },
      'a request of a kind that is not known',
    );
  },
);

test.serial(
  'reflection needs a credential, refuses malformed requests, and ends its streams when the server stops',
  async (t) => {
    const { client, server } = await served(t);
    for (const version of ['v1', 'v1alpha'] as const)
      await t.throwsAsync(reflectServices(client, version), { message: /UNAUTHENTICATED/ });
    const keep = (bytes: Buffer): Buffer => bytes;
    const open = (bytes: Buffer): Promise<string> =>
      new Promise((resolve) => {
        const call = client.makeBidiStreamRequest(
          ServerReflectionService.serverReflectionInfo.path,
          keep,
          keep,
          metadata,
          {},
        );
        call.on('error', ({ message }) => {
          resolve(message);
        });
        call.on('data', () => {
          void server.drain(1000);
        });
        call.write(bytes);
      });
    t.regex(await open(Buffer.from([0x3a, 0xff])), /malformed message/);
    t.regex(await open(Buffer.from([0x3a, 0x00])), /UNAVAILABLE.*the server is stopping/);
  },
);
