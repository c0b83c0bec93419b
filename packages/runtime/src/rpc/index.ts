export {
  farAddress,
  isLoopback,
  isSocket,
  joinAddress,
  nearAddress,
  parseAddress,
  parseLoopbackAddress,
  socketAddress,
  type Address,
} from './address.ts';
export { bind, type AuditedMethods, type BindOptions, type ServiceBinding } from './bind.ts';
export { jobBytesMax, messageBytesMax } from './channel.ts';
export type { CallContext } from './context.ts';
export {
  callUnary,
  dial,
  listMessages,
  openSending,
  openStream,
  type CallLimits,
  type ClientConstructor,
  type DialOptions,
  type Sending,
} from './dial.ts';
export {
  unary,
  type BidiHandler,
  type ClientStreamHandler,
  type Handlers,
  type ServerStreamHandler,
  type UnaryHandler,
  type UnaryRoute,
} from './handlers.ts';
export { openRawSending, listRawMessages, type ReceivingMethod, type SendingMethod } from './raw-calls.ts';
export { countCalls, serve, type RunningServer, type ServeOptions } from './serve.ts';
export { fromStatus, toMutiraoError, toStatus, type FailedStatus } from './status.ts';
export type { MessageStream, StreamListener, StreamWriter } from './streams.ts';
export { acceptToken, type TokenCheck } from './tokens.ts';
export { homeSocketFolders, isHomeSocket, listenAddress, makeSocketFolder, socketIn } from './socket-folder.ts';
export {
  countOfPage,
  inPages,
  isBehind,
  partsOfEvents,
  type WatchedEvent,
  type WatchedPart,
  type WatchPlace,
} from './pages.ts';
