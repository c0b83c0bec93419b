import Type, { type Static } from 'typebox';

/** The user that the page serves, and where. */
export const Session = Type.Object({
  version: Type.String({ description: 'Release of the gateway.' }),
  user_id: Type.String({ description: 'Whose grid it is.' }),
  home: Type.String({ description: 'Its home folder.' }),
  directory: Type.String({
    description: 'Where relative paths of a job that is submitted here begin, unless it says another folder.',
  }),
  broker: Type.String({ description: 'Address of the broker; empty while none has started.' }),
  has_reservations: Type.Boolean({ description: 'Whether there is a reservation manager.' }),
  body_bytes_max: Type.Integer({ description: 'Most bytes of a request.' }),
});
export type Session = Static<typeof Session>;
