import { bytes, duration, text } from '../config/index.ts';

/** The options of every process that publishes events to NATS; `findNatsOptions` of `runtime/events` reads them. */
export const natsOptions = {
  nats: text({
    help:
      'NATS server with JetStream to publish events to, or several of one cluster separated by commas. Default: ' +
      'publish nothing.',
    placeholder: 'URL',
  }),
  natsCredentials: text({ help: 'Credentials file (.creds) for NATS.', placeholder: 'FILE' }),
  natsCa: text({
    help: 'PEM file of the authority of a tls:// server. Default: what Node trusts.',
    placeholder: 'FILE',
  }),
  natsCertificate: text({ help: 'PEM file of a client certificate for NATS.', placeholder: 'FILE' }),
  natsKey: text({ help: 'PEM file of the key of that certificate.', placeholder: 'FILE' }),
  natsStream: text({
    help: 'Stream for the events; created if missing.',
    placeholder: 'NAME',
    default: 'MUTIRAO_EVENTS',
  }),
  natsAge: duration({ help: 'How long the stream keeps an event.', default: 7 * 24 * 3_600_000 }),
  natsBytes: bytes({ help: 'Size limit of the stream; the oldest events are dropped first.', default: 1024 ** 3 }),
};
