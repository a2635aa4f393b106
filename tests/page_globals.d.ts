// What the scripts of the pages use and TypeScript does not know.
declare const uPlot: any;
interface Uint8ArrayConstructor {
  fromBase64?(text: string): Uint8Array<ArrayBuffer>;
}
