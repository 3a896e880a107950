# The proxy in a container:
#
#   docker build -t plimsoll .
#   docker run -v plimsoll:/data -p 8790:8790 plimsoll
#
# It is reached from outside the container, so it lets in those with a key alone: `docker run plimsoll proxy key NAME` makes one, and its
# line goes into keys.txt of the volume. Conversations are kept there, too.
FROM golang:1.26.8-alpine AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags='-s -w' -o /out/plimsoll ./cmd/plimsoll

FROM alpine:3.22
RUN adduser -D -H -u 65532 plimsoll && install -d -m 700 -o plimsoll /data
COPY --from=build /out/plimsoll /usr/local/bin/plimsoll
USER plimsoll
WORKDIR /data
ENV XDG_DATA_HOME=/data
VOLUME /data
EXPOSE 8790
HEALTHCHECK --interval=30s --timeout=3s CMD ["wget", "-q", "-O", "/dev/null", "http://127.0.0.1:8790/healthz"]
ENTRYPOINT ["plimsoll"]
CMD ["proxy", "--listen", "0.0.0.0:8790", "--keys", "/data/keys.txt"]
