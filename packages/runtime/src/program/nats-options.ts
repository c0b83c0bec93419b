import { bytes, duration, text } from '../config/index.ts';

/** The options of every process that publishes events to NATS; `findNatsOptions` of `runtime/events` reads them. */
export const natsOptions = {
  nats: text({
    help:
      'Where to publish events: a NATS server with JetStream, or several of one cluster separated by commas. Not ' +
      'published where empty.',
    placeholder: 'URL',
  }),
  natsCredentials: text({ help: 'A credentials file (.creds) for NATS.', placeholder: 'FILE' }),
  natsCa: text({
    help: 'PEM file of the authority that a tls:// NATS server is signed by; what the system trusts when empty.',
    placeholder: 'FILE',
  }),
  natsCertificate: text({ help: 'PEM file of the certificate to show there; none when empty.', placeholder: 'FILE' }),
  natsKey: text({ help: 'PEM file of its key.', placeholder: 'FILE' }),
  natsStream: text({
    help: 'The stream that keeps events; made where it is absent.',
    placeholder: 'NAME',
    default: 'MUTIRAO_EVENTS',
  }),
  natsAge: duration({ help: 'How long the stream keeps an event.', default: 7 * 24 * 3_600_000 }),
  natsBytes: bytes({ help: 'How much the stream keeps; the oldest events go first.', default: 1024 ** 3 }),
};
