Olga come pan.
Maria corre.
Omar viaja a Moscú.
Olga compró una silla negra.
Robert bebe café.
Ivan no compró una silla.
Rita va al restaurante el domingo.
Amina nació en Moscú en 1986.
El niño corre en el parque.
Julia viaja a París en tren.
David viaja a Roma en autobús.
Nina nació en Berlín.
Max bebe zumo.
Maria viaja a Nairobi en autobús.
El niño canta en la estación.
Julia vive en Nueva Delhi.
Ali bebe agua en la biblioteca.
Ivan come un plátano.
Rita compró un coche.
A Sara le gusta el tenis.
Peter no vive en Ciudad del Cabo.
Olga nació en Ciudad del Cabo en 1983.
Amina es ingeniera.
Hassan vive en Nairobi.
A Priya le gusta el cine.
El abuelo llora en la escuela.
Omar nació en Ciudad del Cabo.
A Daniel no le gusta el fútbol.
Ivan no vive en Estambul.
Ivan no escribe.
David lee en la cocina.
Max viaja a París en tren.
El Hospital Delta está en Roma.
Max habla español.
Rita come una pera en la playa.
Priya es piloto y vive en Roma.
Rita bebe agua.
A Emma le gusta la historia.
Omar Daniel viaja a Los Angeles en autobús.
Victor habla ruso.
Sara vive en Estambul.
Daniel come un huevo en el parque.
Daniel compró una lámpara azul.
Simon come un plátano en la cocina.
Olga va a la oficina.
Hassan tiene cuatro gatos.
García vive en Roma.
Peter no compró un bolso.
El coche de Amina es viejo.
Nina vive en Los Angeles.
Robert y Daniel viven en Roma.
Anna nació en 1992.
Nina no nació en Berlín.
Daniel va a la estación.
Anna está en la estación.
Priya va a la playa.
Omar escribe.
Amina Victor vive en Ciudad del Cabo.
Maria trabaja en el Banco Orion.
Ali come fruta.
El niño llora en la estación.
A Hassan no le gusta el ajedrez.
Maria viaja a Nueva York.
Peter no compró una bicicleta.
Laura no habla hindi.
David no nació en Moscú.
Victor le regala un sombrero a Martin.
La mujer canta en el restaurante.
Daniel bebe zumo en la cocina.
Max no habla inglés.
Amina nació en Madrid.
Laura duerme.
Hassan trabaja en la Universidad Sirius.
Elena espera.
Laura no come fruta.
Max viaja a Madrid en autobús.
Nina come pescado.
Omar tiene dos caballos.
Emma lee.
Anna come carne.
Nina come fruta.
Robert Daniel Mwangi trabaja en la Universidad Luna.
Emma no vive en Madrid.
Daniel nació en Oslo en 1995.
Robert Daniel Simon vive en Los Angeles.
Anna le regala un sombrero a Julia.
El Hospital Delta está en Oslo.
Omar no vive en Nueva Delhi.
La Universidad Nova está en Los Angeles.
Peter va al parque el martes.
David va a la playa.
Priya trabaja en el Hotel Orion.
Laura Mwangi trabaja en el Banco Nova.
Martin no come fruta.
Max está en el mercado.
Robert está en la playa.
Omar tiene tres gatos.
Maria vive en Nueva Delhi.
Laura está en el mercado.
Victor Max Daniel vive en Madrid.
Amina es piloto.
Amina no vive en París.
Daniel bebe zumo en el parque.
Nina no canta.
Laura no habla chino.
Nina nació en 1992.
Olga viaja a Nairobi.
Priya nació en 1958.
La abuela cocina en la playa.
Max habla ruso.
David compró una silla verde.
Sara viaja a Nueva York.
Sara come fruta.
Peter no vive en París.
Omar es abogado.
Hassan Simon Victor trabaja en el Hospital Luna.
Sara compró un teléfono.
Nina vive en Nueva York.
Ali va al restaurante el lunes.
Elena habla inglés.
Ivan no cocina.
Ali es abogado y vive en Nueva Delhi.
Simon nació en Ciudad de México.
Nina nació en 1986.
Ali no es ingeniero.
David cocina.
Victor no trabaja.
Laura va al restaurante el sábado.
Rita vive en Viena.
Peter va a la playa.
Max va a la playa.
El niño cocina en el restaurante.
Simon trabaja en el Hotel Alba.
Julia espera.
Rita tiene cuatro gatos.
Simon va al mercado el sábado.
Amina va a la estación.
Peter es cocinero.
Daniel tiene cinco conejos.
Ali no compró una lámpara.
A Nina no le gusta el tenis.
Victor Novak viaja a Londres en coche.
Laura come un huevo en el restaurante.
Max tiene cinco vacas.
Daniel no vive en Madrid.
Peter bebe café en la playa.
Omar nació en Berlín.
Emma come fruta.
La abuela trabaja en el restaurante.
El libro de Ivan es caro.
Priya Daniel viaja a Viena en coche.
Weber viaja a Nueva Delhi en coche.
Ivan bebe café.
Amina trabaja en el Banco Orion.
Rita nació en 1995.
Elena no espera.
Emma corre.
Olga trabaja en la estación.
Rossi vive en Estambul.
Omar habla chino.
Omar no corre.
A Anna no le gusta el fútbol.
Robert no nació en Moscú.
A Julia no le gusta el fútbol.
Sara nació en Londres en 1983.
El libro de Hassan es viejo.
Ali no vive en Madrid.
Emma cocina.
Priya nació en Roma en 1992.
Sara no habla inglés.
Peter bebe café en la estación.
A Max no le gusta la historia.
Elena no compró un teléfono.
Sara compró un bolso blanco.
Daniel no lee.
A Sara no le gusta el cine.
Victor y Ali viven en París.
Hassan nació en Ciudad del Cabo en 1992.
Julia Amina Mwangi vive en Berlín.
Victor compró un sombrero blanco.
Ivan no es cantante.
Amina está en la oficina.
Sara nació en Nueva York.
Max nació en Viena.
David espera en el parque.
Priya cocina.
Robert no vive en Ciudad del Cabo.
Hassan es abogado y vive en Oslo.
Laura le regala un teléfono a Daniel.
Olga habla inglés.
Anna es conductora y vive en Tokio.
Amina es conductora.
Peter es médico.
Ivan es agricultor.
Daniel viaja a Londres en autobús.
Omar trabaja en la Universidad Sirius.
Laura bebe zumo en la playa.
Victor va al parque el domingo.
Olga cocina.
A Anna le gusta el ajedrez.
