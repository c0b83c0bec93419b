import type { Reason, ReasonValue } from '../generated/mutirao/common/v1/common.ts';

/** A reason as a JSON document has it. */
export interface ReasonDocument {
  readonly code: string;
  readonly parameters: Record<string, unknown>;
  readonly text: string;
}

/** A reason of the wire with its parameters as plain values. */
export function reasonDocument({ code, parameters, text }: Reason): ReasonDocument {
  const values = Object.entries(parameters).map(([name, { value }]) => [name, findPlain(value)] as const);
  return { code, parameters: Object.fromEntries(values), text };
}

/** A reason of the wire that may be absent, where there is nothing to say. */
export function findReasonDocument(reason: Reason | undefined): ReasonDocument | null {
  return reason === undefined ? null : reasonDocument(reason);
}

function findPlain(value: ReasonValue['value']): unknown {
  if (value?.$case === 'reason') return reasonDocument(value.value);
  return value?.$case === 'list' ? value.value.texts : (value?.value ?? null);
}
