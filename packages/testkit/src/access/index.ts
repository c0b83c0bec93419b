export { AccessWorld, type WorldServer, type WorldUser } from './access-world.ts';
export { callMethod, type AnyMethod, type CallOutcome } from './call-method.ts';
export { brokerRequests, clusterRequests, providerRequests, reservationRequests } from './get-requests.ts';
export { resourceOf, WorldObjects } from './world-objects.ts';
export { reflect, reflectFiles, reflectServices, type ReflectionAnswer, type ReflectionQuestion } from './reflect.ts';
