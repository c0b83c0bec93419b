/** A job's number at its broker, counted from 1. */
export type JobId = number;

/** A task's position in its job, counted from 0. */
export type TaskIndex = number;

/** A replica's number at its broker, counted from 1; shown as `r17`. */
export type ReplicaId = number;

/** The name of a GridMachine, unique at its provider and, since it begins with the provider's id, at a broker. */
export type MachineId = string;

/** The name of a GridMachineProvider, unique at a broker. */
export type ProviderId = string;

/** A provider's own number for an allocation request, as text; unique at that provider. */
export type RequestId = string;

/** The user that a job, its files and its requests belong to. */
export type UserId = string;
