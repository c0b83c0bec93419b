/** What a code means to a caller. */
export interface ErrorEntry {
  /** Name of the gRPC status that carries it. */
  readonly status: 'INVALID_ARGUMENT' | 'NOT_FOUND' | 'ALREADY_EXISTS' | 'PERMISSION_DENIED' | 'UNAUTHENTICATED' | 'RESOURCE_EXHAUSTED'
    | 'FAILED_PRECONDITION' | 'UNAVAILABLE' | 'DEADLINE_EXCEEDED' | 'INTERNAL' | 'UNIMPLEMENTED' | 'ABORTED' | 'CANCELLED';
  /** Whether the same call may go through later. */
  readonly retryable: boolean;
  /** One sentence: what to do. */
  readonly advice: string;
}

/** Every stable code, in the order of the alphabet. */
export const registry = {
  MUT_BAD_REQUEST: { status: 'INVALID_ARGUMENT', retryable: false, advice: 'Correct the value that the message names.' },
  MUT_CANCELLED: { status: 'CANCELLED', retryable: false, advice: 'The work was cancelled; submit it again if that was a mistake.' },
  MUT_INTERNAL: { status: 'INTERNAL', retryable: false, advice: 'This is a bug of Mutirao; report it with the log.' },
  MUT_UNAUTHENTICATED: { status: 'UNAUTHENTICATED', retryable: false, advice: 'Use the token file of the server (MUTIRAO_HOME/token), readable by you alone.' },
  MUT_UNREACHABLE: { status: 'UNAVAILABLE', retryable: true, advice: 'Check that the process runs and the address is right; start a grid with "mutirao up".' },
} as const satisfies Record<string, ErrorEntry>;

/** A code of the registry. */
export type ErrorCode = keyof typeof registry;
