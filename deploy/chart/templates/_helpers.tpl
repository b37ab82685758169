{{- define "gonebox.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "gonebox.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "gonebox.labels" -}}
{{ include "gonebox.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "gonebox.secret" -}}
{{ .Values.secrets.existingSecret | default (include "gonebox.name" .) }}
{{- end }}

{{/* Whether the processes take their secrets from a secret of Kubernetes. */}}
{{- define "gonebox.hasSecret" -}}
{{- if or (eq .Values.mode "postgres") .Values.secrets.existingSecret .Values.secrets.key }}yes{{ end }}
{{- end }}

{{/* The configuration of the service. Keys of .Values.config come last, and so win. */}}
{{- define "gonebox.config" -}}
{{- $http := dict "addr" ":8080" }}
{{- with .Values.trustedProxies.http }}{{ $_ := set $http "trusted_proxies" . }}{{ end }}
{{- $smtp := dict "addr" ":2525" }}
{{- with .Values.smtpHostname }}{{ $_ := set $smtp "hostname" . }}{{ end }}
{{- with .Values.trustedProxies.smtp }}{{ $_ := set $smtp "trusted_proxies" . }}{{ end }}
{{- $config := dict "data_dir" "/data" "http" $http "smtp" $smtp }}
{{- with .Values.baseURL }}{{ $_ := set $config "base_url" . }}{{ end }}
{{- with .Values.domains }}{{ $_ := set $config "domains" . }}{{ end }}
{{- if .Values.metrics.enabled }}
{{- $metrics := dict "addr" (printf ":%v" .Values.metrics.port) }}
{{- with .Values.metrics.hosts }}{{ $_ := set $metrics "hosts" . }}{{ end }}
{{- $_ := set $config "metrics" $metrics }}
{{- end }}
{{- mergeOverwrite $config (deepCopy .Values.config) | toYaml }}
{{- end }}

{{/* A pod. The argument has root, the component, its command line, its resources, and whether it has the volume of data. */}}
{{- define "gonebox.pod" -}}
{{- $v := .root.Values }}
metadata:
  labels:
    {{- include "gonebox.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
    {{- with $v.podLabels }}{{ toYaml . | nindent 4 }}{{ end }}
  annotations:
    checksum/config: {{ include "gonebox.config" .root | sha256sum }}
    {{- with $v.podAnnotations }}{{ toYaml . | nindent 4 }}{{ end }}
spec:
  serviceAccountName: {{ include "gonebox.name" .root }}
  automountServiceAccountToken: false
  enableServiceLinks: false # their variables look like configuration
  terminationGracePeriodSeconds: 60 # longer than shutdown_delay and shutdown_grace
  {{- with $v.imagePullSecrets }}
  imagePullSecrets: {{ toYaml . | nindent 4 }}
  {{- end }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 65532
    runAsGroup: 65532
    fsGroup: 65532
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile: {type: RuntimeDefault}
  containers:
    - name: gonebox
      image: "{{ $v.image.repository }}:{{ $v.image.tag | default .root.Chart.AppVersion }}"
      imagePullPolicy: {{ $v.image.pullPolicy }}
      args: {{ toJson .args }}
      env:
        - {name: GONEBOX_CONFIG, value: /etc/gonebox/gonebox.yaml}
        {{- if include "gonebox.hasSecret" .root }}
        - {name: GONEBOX_SECRETS_KEY_FILE, value: /run/secrets/gonebox/key}
        {{- end }}
        {{- if eq $v.mode "postgres" }}
        - {name: GONEBOX_DATABASE_URL_FILE, value: /run/secrets/gonebox/database-url}
        - {name: GONEBOX_SHUTDOWN_DELAY, value: {{ $v.postgres.shutdownDelay | quote }}}
        {{- end }}
      ports:
        - {name: http, containerPort: 8080}
        {{- if .smtp }}
        - {name: smtp, containerPort: 2525}
        {{- end }}
        {{- if $v.metrics.enabled }}
        - {name: metrics, containerPort: {{ $v.metrics.port }}}
        {{- end }}
      startupProbe: # migrations of a large database take their time
        httpGet: {path: /healthz, port: http}
        periodSeconds: 2
        timeoutSeconds: 5
        failureThreshold: 150
      livenessProbe:
        httpGet: {path: /healthz, port: http}
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      readinessProbe:
        httpGet: {path: /readyz, port: http}
        periodSeconds: 2
        timeoutSeconds: 6
        failureThreshold: 2
      resources: {{ toYaml .resources | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: {drop: [ALL]}
      volumeMounts:
        - {name: data, mountPath: /data}
        - {name: config, mountPath: /etc/gonebox, readOnly: true}
        {{- if include "gonebox.hasSecret" .root }}
        - {name: secrets, mountPath: /run/secrets/gonebox, readOnly: true}
        {{- end }}
  volumes:
    - name: config
      configMap: {name: {{ include "gonebox.name" .root }}}
    {{- if include "gonebox.hasSecret" .root }}
    - name: secrets
      secret: {secretName: {{ include "gonebox.secret" .root }}, defaultMode: 0440}
    {{- end }}
    {{- if ne $v.mode "single" }}
    - name: data # in PostgreSQL is everything that has to be kept
      emptyDir: {}
    {{- else if $v.single.persistence.existingClaim }}
    - name: data
      persistentVolumeClaim: {claimName: {{ $v.single.persistence.existingClaim }}}
    {{- end }}
  {{- with $v.nodeSelector }}
  nodeSelector: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- with $v.tolerations }}
  tolerations: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- with $v.affinity }}
  affinity: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- with $v.topologySpreadConstraints }}
  topologySpreadConstraints: {{ toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
