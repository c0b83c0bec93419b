/** Machines that a provider keeps, and those that were invited to it. */
export const machineShapes = {
  enrolled_machine: {
    machine_id: ['string', 'Name of the GridMachine that it is when it is there.'],
    provider_id: ['string', 'The provider that keeps it.'],
    status: ['string', '`starting`, `running` (its agent is attached) or `waiting` (for another attempt).'],
    since_unix_ms: ['integer', 'Since when its agent runs or does not.'],
    reason: ['string', 'What was said last of why its agent does not run; empty before.'],
    by: ['string', '`ssh` or `templates`.'],
    at: ['string', 'The ssh destination, or what `$machine` stands for.'],
    processors: ['integer', 'Processors to use; 0 for all.'],
    folder: ['string', 'Where files go there; empty for the default.'],
    attributes: ['object', 'What requirements may ask for, as far as it was stated.'],
  },
  invitation: {
    machine_id: ['string', 'Name of the GridMachine that its agent will be.'],
    provider_id: ['string', 'The provider that made it.'],
    invitation: ['string', 'The one-time secret.'],
    expires_unix_ms: ['integer', 'Until when it can be used.'],
    address: ['string', 'Where agents find the provider.'],
    command: ['string', 'What to run on the machine; it reads the invitation from standard input.'],
  },
  machine_credential: {
    machine_id: ['string', 'Name of the GridMachine.'],
    provider_id: ['string', 'The provider that knows it.'],
    status: ['string', '`invited` (not used yet), `joined` (its agent may come back) or `removed`.'],
    since_unix_ms: ['integer', 'Since when the status holds.'],
    expires_unix_ms: ['integer or null', 'Until when its open invitation can be used; null where it has none.'],
  },
} as const;
