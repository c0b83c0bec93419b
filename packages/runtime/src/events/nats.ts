import { readFileSync } from 'node:fs';
import { eventSubjects, type EventMessage } from '@mutirao/api/events';
import type { Bytes, Duration } from '@mutirao/core/shared';
import {
  connect,
  credsAuthenticator,
  DiscardPolicy,
  headers,
  nanos,
  NatsError,
  RetentionPolicy,
  StorageType,
  type JetStreamClient,
  type JetStreamManager,
  type MsgHdrs,
  type NatsConnection,
  type TlsOptions,
} from 'nats';
import type { ConnectEvents, EventConnection, Publication } from './connection.ts';

/** Where events go. */
export interface NatsOptions {
  /** `nats://host:port` or `tls://host:port`; several of one cluster, separated by commas. */
  readonly url: string;
  /** A credentials file (`.creds`); empty for none. Read at each connection. */
  readonly credentialsPath: string;
  /** PEM file with the authority of a server with TLS; empty for those that the system trusts. */
  readonly authorityPath: string;
  /** PEM files of what this side shows to such a server; both empty for nothing. */
  readonly certificatePath: string;
  readonly keyPath: string;
  /** The JetStream stream; made where it is absent, and given these bounds where it has others. */
  readonly stream: string;
  readonly ageMax: Duration;
  readonly bytesMax: Bytes;
  /** How the connection is called in the server's lists. */
  readonly name: string;
}

const connectTimeout = 2000;
const publishTimeout = 10_000;
const pingInterval = 10_000;
/** How long a server recognizes repeats by their ids; an outage of this length puts no duplicates in the stream. */
const duplicateWindowMax = 120_000;
/** JetStream's code for a message whose predecessor is not the last of the stream. */
const wrongLastMessageId = 10_070;
const streamNotFound = 10_059;

/** The way to a NATS server with JetStream. */
export function natsEvents(options: NatsOptions): ConnectEvents {
  return async () => {
    const connection = await connect({
      servers: options.url.split(','),
      name: options.name,
      timeout: connectTimeout,
      pingInterval,
      maxPingOut: 2,
      reconnect: false,
      // Otherwise each message costs the making of an error, with its stack, in case it should be needed.
      noAsyncTraces: true,
      ...(options.url.startsWith('tls:') ? { tls: getTls(options) } : {}),
      ...(options.credentialsPath === ''
        ? {}
        : { authenticator: credsAuthenticator(readFileSync(options.credentialsPath)) }),
    });
    try {
      await provideStream(await connection.jetstreamManager({ timeout: publishTimeout }), options);
    } catch (error) {
      await connection.close();
      throw error;
    }
    return new NatsEventConnection(connection, options.stream);
  };
}

/** Read at each connection, so that files that were renewed are used. */
function getTls({ authorityPath, certificatePath, keyPath }: NatsOptions): TlsOptions {
  return {
    ...(authorityPath === '' ? {} : { ca: readFileSync(authorityPath, 'utf8') }),
    ...(certificatePath === ''
      ? {}
      : { cert: readFileSync(certificatePath, 'utf8'), key: readFileSync(keyPath, 'utf8') }),
  };
}

/** Makes the stream, or moves its bounds. What else an administrator has set (replicas, placement) stays. */
async function provideStream(manager: JetStreamManager, { stream, ageMax, bytesMax }: NatsOptions): Promise<void> {
  const duplicateWindow = nanos(Math.min(duplicateWindowMax, ageMax));
  const bounds = { max_age: nanos(ageMax), max_bytes: bytesMax, duplicate_window: duplicateWindow };
  try {
    const { config } = await manager.streams.info(stream);
    const isSame =
      config.max_age === bounds.max_age &&
      config.max_bytes === bounds.max_bytes &&
      config.subjects.includes(eventSubjects);
    if (!isSame)
      await manager.streams.update(stream, {
        ...config,
        ...bounds,
        subjects: [...new Set([...config.subjects, eventSubjects])],
      });
  } catch (error) {
    if (!(error instanceof NatsError) || error.api_error?.err_code !== streamNotFound) throw error;
    await manager.streams.add({
      name: stream,
      subjects: [eventSubjects],
      ...bounds,
      retention: RetentionPolicy.Limits,
      storage: StorageType.File,
      discard: DiscardPolicy.Old,
    });
  }
}

class NatsEventConnection implements EventConnection {
  readonly closed: Promise<Error | undefined>;
  readonly #connection: NatsConnection;
  readonly #client: JetStreamClient;
  readonly #stream: string;

  constructor(connection: NatsConnection, stream: string) {
    this.#connection = connection;
    this.#client = connection.jetstream({ timeout: publishTimeout });
    this.#stream = stream;
    this.closed = connection.closed().then((error) => error ?? undefined);
  }

  async publish(message: EventMessage, previousId?: string): Promise<Publication> {
    const expect = { streamName: this.#stream, ...(previousId === undefined ? {} : { lastMsgID: previousId }) };
    try {
      await this.#client.publish(message.subject, message.data, {
        msgID: message.messageId,
        headers: getHeaders(message),
        expect,
        timeout: publishTimeout,
      });
      return 'kept';
    } catch (error) {
      if (error instanceof NatsError && error.api_error?.err_code === wrongLastMessageId) return 'out of order';
      throw error;
    }
  }

  close(): Promise<void> {
    return this.#connection.close();
  }
}

function getHeaders(message: EventMessage): MsgHdrs {
  const all = headers();
  for (const [name, value] of Object.entries(message.headers)) all.set(name, value);
  return all;
}
